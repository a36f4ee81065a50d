// Workspaces at rest: one item each, its document as canonical JSON beside the hash that tells whether it changed.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import type { Item, Store } from '../../storage/store/index.ts';
import type { WorkspaceDocument } from './document.ts';
import { keepCredit } from './keep-credit.ts';

const workspaceKey = (id: string): string => `WORKSPACE#${id}`;

export type WorkspaceWrite = 'created' | 'changed' | 'unchanged';

export interface WorkspaceStore {
  /** Undefined: there is no such workspace. */
  read(id: string): Promise<WorkspaceDocument | undefined>;
  /** Throws what `write` would throw, and writes nothing. */
  check(document: WorkspaceDocument): Promise<void>;
  /**
   * Stores a checked document; writes nothing where it stands already. Of a workspace that exists the credit stays, and
   * its shards never become fewer. Throws an Error for the operator where the document would take shards away, or when
   * somebody else wrote at the same time.
   */
  write(document: WorkspaceDocument): Promise<WorkspaceWrite>;
}

export function createWorkspaceStore(store: Store): WorkspaceStore {
  const read = async (id: string) => {
    const item = await store.get('config', workspaceKey(id));
    return item === undefined ? undefined : documentOf(item);
  };
  return {
    read,
    async check(document) {
      keepCredit(document, await read(document.id));
    },
    async write(document) {
      const former = await store.get('config', workspaceKey(document.id));
      const kept = keepCredit(document, former === undefined ? undefined : documentOf(former));
      const json = canonicalJson(kept);
      const hash = sha256Hex(json);
      if (former?.sha256 === hash) return 'unchanged';
      const result = await store.put({
        table: 'config',
        item: { pk: workspaceKey(document.id), sha256: hash, document_json: json },
        ...asRead(former),
      });
      if (result.kind === 'refused' && result.item?.sha256 !== hash) {
        throw new Error(`workspace ${document.id} was changed by somebody else at the same time: apply the file again`);
      }
      return former === undefined ? 'created' : 'changed';
    },
  };
}

const documentOf = (item: Item): WorkspaceDocument => JSON.parse(String(item.document_json)) as WorkspaceDocument;

const asRead = (former: Item | undefined) =>
  former === undefined
    ? { condition: 'attribute_not_exists(pk)' }
    : { condition: 'sha256 = :former', values: { ':former': former.sha256 } };
