// What the grants of one operator or person come to. Pure: asked with every request of the management interface.
import { type Grant, type Role, roles } from './access-rule.ts';

export interface Rights {
  /** True: the role, or a higher one, in this workspace. */
  holds(role: Role, workspace: string): boolean;
  /** True: the very role of a member in this workspace. A viewer reads, and makes no keys. */
  isMember(workspace: string): boolean;
  /** True: the role, or a higher one, in all workspaces, those that are made later too. */
  holdsInAll(role: Role): boolean;
  /** True: the role, or a higher one, in some workspace. */
  holdsSomewhere(role: Role): boolean;
  /** Those where the role, or a higher one, is held. */
  workspacesOf(role: Role): 'all' | ReadonlySet<string>;
}

export function rightsOf(grants: readonly Grant[]): Rights {
  const reaching = (role: Role) => grants.filter((grant) => roles.indexOf(grant.role) >= roles.indexOf(role));
  const workspacesOf = (role: Role): 'all' | ReadonlySet<string> => {
    const names = new Set<string>();
    for (const { workspaces } of reaching(role)) {
      if (workspaces === 'all') return 'all';
      for (const workspace of workspaces) names.add(workspace);
    }
    return names;
  };
  const holds = (role: Role, workspace: string) => {
    const workspaces = workspacesOf(role);
    return workspaces === 'all' || workspaces.has(workspace);
  };
  return {
    holds,
    workspacesOf,
    isMember: (workspace) =>
      grants.some(
        ({ role, workspaces }) => role === 'member' && (workspaces === 'all' || workspaces.includes(workspace)),
      ),
    holdsInAll: (role) => workspacesOf(role) === 'all',
    holdsSomewhere: (role) => reaching(role).some(({ workspaces }) => workspaces === 'all' || workspaces.length > 0),
  };
}
