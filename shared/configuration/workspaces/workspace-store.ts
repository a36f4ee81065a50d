// Workspaces at rest: one item each, its document as canonical JSON beside its hash, by which a change is recognised.
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type Item, type Store, writeOptimistically } from '../../storage/store/index.ts';
import { mergeWorkspace } from './merge-workspace.ts';
import type { WorkspaceChanges, WorkspaceDocument } from './workspace-document.ts';

const keyPrefix = 'WORKSPACE#';
const workspaceKey = (id: string): string => `${keyPrefix}${id}`;

export type WorkspaceWrite = 'created' | 'changed' | 'unchanged';

export interface WorkspaceStore {
  /** Undefined: there is no such workspace. */
  read(id: string): Promise<WorkspaceDocument | undefined>;
  /**
   * Makes checked changes, as `mergeWorkspace` says; writes nothing where nothing changes. Throws an Error for the
   * operator where `mergeWorkspace` does, or when other writes keep coming in between.
   */
  write(changes: WorkspaceChanges): Promise<WorkspaceWrite>;
  /** Every workspace, in no order. For the operator: reads the whole table. */
  list(): AsyncIterable<WorkspaceDocument>;
}

export function createWorkspaceStore(store: Store): WorkspaceStore {
  return {
    async read(id) {
      const item = await store.get('config', workspaceKey(id));
      return item === undefined ? undefined : documentOf(item);
    },
    write: (changes) =>
      writeOptimistically(`workspace ${changes.id} is`, async () => {
        const key = workspaceKey(changes.id);
        const former = await store.get('config', key);
        const json = canonicalJson(mergeWorkspace(former && documentOf(former), changes));
        const sha256 = sha256Hex(json);
        if (former?.sha256 === sha256) return 'unchanged';
        const item = { pk: key, sha256, document_json: json };
        const result = await store.put({ table: 'config', item, ...ifStill(former) });
        if (result.kind !== 'written') return undefined;
        return former === undefined ? 'created' : 'changed';
      }),
    async *list() {
      for await (const item of store.scan('config')) {
        if (String(item.pk).startsWith(keyPrefix)) yield documentOf(item);
      }
    },
  };
}

const documentOf = (item: Item): WorkspaceDocument => JSON.parse(String(item.document_json)) as WorkspaceDocument;

const ifStill = (former: Item | undefined) =>
  former === undefined
    ? { condition: 'attribute_not_exists(pk)' }
    : { condition: 'sha256 = :former', values: { ':former': former.sha256 } };
