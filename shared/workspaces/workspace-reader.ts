// Workspaces as one instance sees them: a bounded memory of those it served lately. Unlike the catalogue an old copy is
// never served while the store is down: a workspace says what a caller may spend and where its data may go.
import { configFreshMs, rememberedWorkspacesMax } from '../names/index.ts';
import type { Clock } from '../time/index.ts';
import type { WorkspaceDocument } from './document.ts';
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

interface Remembered {
  /** A promise, so that callers at the same time share one read. */
  readonly document: Promise<WorkspaceDocument>;
  readonly askedAtMs: number;
}

export function createWorkspaceReader({ workspaces, clock }: WorkspaceReaderOptions): WorkspaceReader {
  /** A Map keeps the order of insertion: the first entry is the one that was used longest ago. */
  const remembered = new Map<string, Remembered>();

  function ask(id: string): Remembered {
    const asked: Remembered = { document: readExisting(workspaces, id), askedAtMs: clock.nowMs() };
    asked.document.catch(() => {
      if (remembered.get(id) === asked) remembered.delete(id);
    });
    return asked;
  }

  return {
    async read(id) {
      const known = remembered.get(id);
      const isFresh = known !== undefined && clock.nowMs() - known.askedAtMs < configFreshMs;
      const entry = isFresh ? known : ask(id);
      remembered.delete(id);
      remembered.set(id, entry);
      const [oldest] = remembered.keys();
      if (remembered.size > rememberedWorkspacesMax && oldest !== undefined) remembered.delete(oldest);
      return entry.document;
    },
  };
}

async function readExisting(workspaces: Pick<WorkspaceStore, 'read'>, id: string): Promise<WorkspaceDocument> {
  const document = await workspaces.read(id);
  if (document === undefined) throw new Error(`a key names the workspace ${id}, which does not exist`);
  return document;
}
