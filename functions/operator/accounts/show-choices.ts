// Serves GET /v1/manage/choices: ids that forms offer, and the bounds of keys that people may make for themselves.
import { isKeyExpired, type KeyRecord } from '../../../shared/configuration/keys/index.ts';
import type { Documents } from '../../../shared/configuration/management/index.ts';
import { settingsOf, type WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { collect } from '../../../shared/foundation/parallel/index.ts';
import { mayRead } from '../request/allowed.ts';
import type { Operator } from '../request/identify-operator.ts';
import type { RouteWork } from '../request/manage.ts';
import { ownsKey } from './key-permissions.ts';

export const showChoices: RouteWork<'GET /choices'> = async (deps, { operator }) => {
  const { rights } = operator;
  const [document, workspaces, keys] = await Promise.all([
    deps.catalogues.read(),
    collect(deps.workspaceStore.list()),
    collect(deps.keys.list()),
  ]);
  const seenKeys = keys.filter((key) => mayRead(operator, key.workspace) || ownsKey(operator, key));
  const memberWorkspaces = workspaces.filter(({ id }) => rights.holds('member', id));
  const ids = document?.models.map(({ id }) => id) ?? [];
  const allowed = new Set(memberWorkspaces.flatMap((workspace) => settingsOf(workspace).models));
  const data: Documents['ManagedChoices'] = {
    models: rights.holdsInAll('member') || allowed.has('all') ? ids : ids.filter((id) => allowed.has(id)),
    providers: rights.holdsSomewhere('viewer') ? (document?.providers ?? []).map(({ id }) => id) : [],
    guardrails: (document?.guardrails ?? []).map(({ id }) => id),
    tag_names: [...new Set(seenKeys.flatMap(({ tags }) => Object.keys(tags ?? {})))].sort(),
    member_keys: memberKeys(operator, memberWorkspaces, keys, deps.clock.nowMs()),
  };
  return { data };
};

/** Returns the bounds for the workspaces in which the person has no higher role than member. */
function memberKeys(
  { owner, rights }: Operator,
  workspaces: readonly WorkspaceDocument[],
  keys: readonly KeyRecord[],
  nowMs: number,
): Documents['ManagedChoices']['member_keys'] {
  const bounded = workspaces.filter(({ id }) => !rights.holds('editor', id) && rights.isMember(id));
  if (owner === undefined || bounded.length === 0) return [];
  const used = keys.filter((key) => key.owner === owner && key.status === 'active' && !isKeyExpired(key, nowMs));
  return bounded.map((workspace) => {
    const { member_keys: bounds } = settingsOf(workspace);
    const keyCount = used.filter((key) => key.workspace === workspace.id).length;
    return { workspace: workspace.id, bounds, left: Math.max(0, (bounds?.max ?? 0) - keyCount) };
  });
}
