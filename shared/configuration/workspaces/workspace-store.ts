// Stores workspaces, one item each. The item has the document as canonical JSON next to its hash, by which a change is
// recognized.

import { createReadCache } from '../../foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import {
  type DocumentWrite,
  documentIn,
  type Store,
  writeDocument,
  writeOptimistically,
} from '../../storage/store/index.ts';
import { mergeWorkspace } from './merge-workspace.ts';
import type { WorkspaceChanges, WorkspaceDocument } from './workspace-document.ts';

const keyPrefix = 'WORKSPACE#';
const workspaceKey = (id: string): string => `${keyPrefix}${id}`;

export interface WorkspaceStore {
  /** Returns the workspace; undefined when there is none. */
  read(id: string): Promise<WorkspaceDocument | undefined>;
  /**
   * Makes checked changes with `mergeWorkspace`; writes nothing if nothing changes. Throws WriteRefused for the
   * operator if `mergeWorkspace` does, or when other writes continue to arrive between.
   */
  write(changes: WorkspaceChanges): Promise<DocumentWrite>;
  /** Yields every workspace, in no order. For the operator, because it reads the whole table. */
  list(): AsyncIterable<WorkspaceDocument>;
}

export function createWorkspaceStore(store: Store): WorkspaceStore {
  return {
    async read(id) {
      const item = await store.get('config', workspaceKey(id));
      return item === undefined ? undefined : documentIn(item);
    },
    write: (changes) =>
      writeOptimistically(`workspace ${changes.id} is`, async () => {
        const key = workspaceKey(changes.id);
        const former = await store.get('config', key);
        return writeDocument(store, key, former, mergeWorkspace(former && documentIn(former), changes));
      }),
    async *list() {
      for await (const item of store.scan('config')) {
        if (String(item.pk).startsWith(keyPrefix)) yield documentIn(item);
      }
    },
  };
}

// Reads recently used workspaces for one instance. Unlike the catalogue, an old copy is never served while the store is
// down, because a workspace decides what a caller may spend and where its data may go.

export interface WorkspaceReader {
  /**
   * Returns a workspace that is at most `configFreshMs` old. Throws StoreUnavailable, and an Error for a workspace that
   * does not exist, because ids come from keys, and a key is only made for a workspace.
   */
  read(id: string): Promise<WorkspaceDocument>;
  /** Returns the workspace from memory; undefined if it would have to be read. */
  known(id: string): WorkspaceDocument | undefined;
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
    known: documents.peek,
    async read(id) {
      const document = await documents.get(id, () => workspaces.read(id));
      if (document === undefined) throw new Error(`a key names the workspace ${id}, which does not exist`);
      return document;
    },
  };
}
