// Workspaces at rest: one item each, its document as canonical JSON beside its hash, by which a change is recognised.

import { createReadCache } from '../../foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
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

// Workspaces as one instance sees them: those it served lately. Unlike the catalogue, an old copy is never served while
// the store is down: a workspace says what a caller may spend and where its data may go.

export interface WorkspaceReader {
  /**
   * At most `configFreshMs` old. Throws StoreUnavailable, and an Error for a workspace that does not exist: ids come
   * from keys, and a key is only made for a workspace.
   */
  read(id: string): Promise<WorkspaceDocument>;
}

interface WorkspaceReaderOptions {
  readonly workspaces: Pick<WorkspaceStore, 'read'>;
  readonly clock: Clock;
}

export function createWorkspaceReader({ workspaces, clock }: WorkspaceReaderOptions): WorkspaceReader {
  const documents = createReadCache<WorkspaceDocument | undefined>({
    sizeMax: cachedWorkspacesMax,
    freshMs: configFreshMs,
    clock,
  });

  return {
    async read(id) {
      const document = await documents.get(id, () => workspaces.read(id));
      if (document === undefined) throw new Error(`a key names the workspace ${id}, which does not exist`);
      return document;
    },
  };
}
