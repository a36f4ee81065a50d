// What the session may do, so that the page shows no button that would be refused. The gateway checks every request anyway.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from './documents.ts';
import { useManaged } from './management.ts';

type Role = keyof Session['workspaces'];

export interface Rights {
  readonly name: string;
  readonly isPerson: boolean;
  /** `workspace` left out: anywhere. */
  readonly holds: (role: Role, workspace?: string) => boolean;
  readonly holdsInAll: (role: Role) => boolean;
  /** Undefined: in all there are. */
  readonly workspacesOf: (role: Role) => readonly string[] | undefined;
}

export function rightsOf({ name, is_person, workspaces }: Session): Rights {
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

export const RightsContext = createContext<Rights>({
  name: '',
  isPerson: false,
  holds: () => false,
  holdsInAll: () => false,
  workspacesOf: () => [],
});

export const useRights = (): Rights => useContext(RightsContext);

/** Ids of the workspaces where the session holds the role. They are read only where it holds it in all. */
export function useWorkspaceNames(role: Role): readonly string[] {
  const known = useRights().workspacesOf(role);
  const { answer } = useManaged(known === undefined ? 'GET /workspaces' : undefined, { query: { limit: '200' } });
  return known ?? (answer?.data ?? []).map(({ id }) => id);
}
