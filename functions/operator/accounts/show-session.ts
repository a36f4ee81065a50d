// Serves GET /v1/manage/session: the operator and its rights. The page shows no more than the rights allow, and the
// gateway checks every request.
import type { Role } from '../../../shared/configuration/access/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import type { RouteWork } from '../request/manage.ts';

export const showSession: RouteWork<'GET /session'> = async (_deps, { operator }) => {
  const { name, rights, owner, signInEndsAtMs } = operator;
  const workspacesOf = (role: Role) => {
    const workspaces = rights.workspacesOf(role);
    return workspaces === 'all' ? workspaces : [...workspaces].sort();
  };
  const data: Documents['ManagedSession'] = {
    name,
    is_person: owner !== undefined,
    ends_at: signInEndsAtMs === undefined ? null : new Date(signInEndsAtMs).toISOString(),
    workspaces: {
      member: workspacesOf('member'),
      viewer: workspacesOf('viewer'),
      editor: workspacesOf('editor'),
      owner: workspacesOf('owner'),
    },
  };
  return { data };
};
