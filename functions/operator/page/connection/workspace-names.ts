import type { List, Workspace } from './documents.ts';
import { useManaged } from './management.ts';
import { type Role, useRights } from './session-rights.ts';

/** Ids of the workspaces where the session holds the role. They are read only where it holds it in all. */
export function useWorkspaceNames(role: Role): readonly string[] {
  const known = useRights().workspacesOf(role);
  const { answer } = useManaged<List<Workspace>>(known === undefined ? 'workspaces?limit=200' : undefined);
  return known ?? (answer?.data ?? []).map(({ id }) => id);
}
