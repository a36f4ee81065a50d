// Reads the rights of the session, so that the page shows no button whose request would be refused. The gateway checks
// every request anyway.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Choices, ManagedSession } from './documents.ts';
import { useManagementRequest } from './management.ts';

type Role = keyof ManagedSession['workspaces'];

export interface SessionRights {
  readonly name: string;
  readonly isPerson: boolean;
  /** Returns true if the session has the role; without `workspace`, in any workspace. */
  readonly holds: (role: Role, workspace?: string) => boolean;
  readonly holdsInAll: (role: Role) => boolean;
  /** Returns the workspaces in which the session has the role; undefined for all. */
  readonly workspacesOf: (role: Role) => readonly string[] | undefined;
}

export function rightsOf({ name, is_person, workspaces }: ManagedSession): SessionRights {
  return {
    name,
    isPerson: is_person,
    holds: (role, workspace) => {
      const held = workspaces[role];
      return held === 'all' || (workspace === undefined ? held.length > 0 : held.includes(workspace));
    },
    holdsInAll: (role) => workspaces[role] === 'all',
    workspacesOf: (role) => {
      const held = workspaces[role];
      return held === 'all' ? undefined : held;
    },
  };
}

export const RightsContext = createContext<SessionRights>({
  name: '',
  isPerson: false,
  holds: () => false,
  holdsInAll: () => false,
  workspacesOf: () => [],
});

export const useRights = (): SessionRights => useContext(RightsContext);

const noChoices: Choices = { models: [], providers: [], guardrails: [], tag_names: [], member_keys: [] };

/** Returns the ids that forms offer; empty until they are read, and if they cannot be read. */
export const useChoices = (): Choices => useManagementRequest('GET /choices').answer?.data ?? noChoices;

/**
 * Returns the ids of the workspaces in which the session has the role. The list is requested only if the session has
 * the role in all workspaces.
 */
export function useWorkspaceNames(role: Role): readonly string[] {
  const known = useRights().workspacesOf(role);
  const { answer } = useManagementRequest(known === undefined ? 'GET /workspaces' : undefined, {
    query: { limit: '200' },
  });
  return known ?? (answer?.data ?? []).map(({ id }) => id);
}
