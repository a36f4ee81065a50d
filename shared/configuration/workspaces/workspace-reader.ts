// Workspaces as one instance sees them: those it served lately. Unlike the catalogue, an old copy is never served while
// the store is down: a workspace says what a caller may spend and where its data may go.
import { createReadCache } from '../../foundation/cache/index.ts';
import { cachedWorkspacesMax, configFreshMs } from '../../foundation/constants/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import type { WorkspaceDocument } from './workspace-document.ts';
import type { WorkspaceStore } from './workspace-store.ts';

export interface WorkspaceReader {
  /**
   * At most `configFreshMs` old. Throws StoreUnavailable, and an Error for a workspace that does not exist: ids come
   * from keys, and a key is only made for a workspace.
   */
  read(id: string): Promise<WorkspaceDocument>;
}

export interface WorkspaceReaderOptions {
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
