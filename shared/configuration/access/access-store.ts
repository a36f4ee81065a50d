// The rules of access at rest: one item. Read with every request of a person, so that a change holds at once.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type Store, writeOptimistically } from '../../storage/store/index.ts';
import type { AccessRule } from './access-rule.ts';

const accessKey = 'ACCESS';

export type AccessWrite = 'created' | 'changed' | 'unchanged';

export interface AccessStore {
  /** Strongly consistent. Empty: only operator keys open the management interface. */
  read(): Promise<readonly AccessRule[]>;
  /** Replaces all rules. Throws an Error for the operator when other writes keep coming in between. */
  write(rules: readonly AccessRule[]): Promise<AccessWrite>;
}

export function createAccessStore(store: Pick<Store, 'get' | 'put'>): AccessStore {
  const readItem = () => store.get('config', accessKey);
  return {
    async read() {
      const item = await readItem();
      return item === undefined ? [] : (JSON.parse(String(item.document_json)) as AccessRule[]);
    },
    write: (rules) =>
      writeOptimistically('access is', async () => {
        const former = await readItem();
        const json = canonicalJson(rules);
        const sha256 = sha256Hex(json);
        if (former?.sha256 === sha256 || (former === undefined && rules.length === 0)) return 'unchanged';
        const result = await store.put({
          table: 'config',
          item: { pk: accessKey, sha256, document_json: json },
          ...(former === undefined
            ? { condition: 'attribute_not_exists(pk)' }
            : { condition: 'sha256 = :former', values: { ':former': former.sha256 } }),
        });
        if (result.kind !== 'written') return undefined;
        return former === undefined ? 'created' : 'changed';
      }),
  };
}
