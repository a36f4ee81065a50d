// Reads, plans, writes; and again where somebody else wrote in between. Contents go first: a record never names one that
// is not there. What a draft held before stays behind, some kilobytes that nobody reads: deleting it could take away what
// another write has just named again.
import { canonicalJson } from '../../foundation/ids/index.ts';
import type { Store } from '../../storage/store/index.ts';
import { contentPut } from './content-item.ts';
import { fromItem, functionKey, toItem, versionOf } from './function-item.ts';
import type { FunctionRecord } from './function-record.ts';
import type { ApplyPlan } from './plan-apply.ts';

/** Gateways that start together apply the same file together; a second look shows each that the work is done. */
const writeAttemptsMax = 3;

export type FunctionChange = 'created' | 'changed' | 'unchanged';

export interface WrittenFunction {
  readonly record: FunctionRecord;
  readonly change: FunctionChange;
}

/** `plan` throws to refuse. Throws an Error for the operator when somebody else keeps writing at the same time. */
export async function writeFunction(
  store: Pick<Store, 'get' | 'put'>,
  workspace: string,
  id: string,
  plan: (former: FunctionRecord | undefined) => ApplyPlan,
): Promise<WrittenFunction> {
  for (let attempt = 0; attempt < writeAttemptsMax; attempt += 1) {
    const item = await store.get('functions', functionKey(workspace, id));
    const former = item === undefined ? undefined : fromItem(item);
    const { record, newTexts } = plan(former);
    if (former !== undefined && isSame(former, record)) return { record, change: 'unchanged' };
    for (const text of newTexts) await store.put(await contentPut(record, text));
    const version = versionOf(item);
    const result = await store.put({
      table: 'functions',
      item: toItem(record, version + 1),
      ...(item === undefined
        ? { condition: 'attribute_not_exists(pk)' }
        : { condition: 'version = :former', values: { ':former': version } }),
    });
    if (result.kind === 'written') return { record, change: former === undefined ? 'created' : 'changed' };
  }
  throw new Error(`function ${id} of ${workspace} is being changed by somebody else: try again`);
}

const isSame = (left: FunctionRecord, right: FunctionRecord): boolean =>
  canonicalJson(toItem(left, 0)) === canonicalJson(toItem(right, 0));
