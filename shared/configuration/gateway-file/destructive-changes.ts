// Which changes of a plan take something away, or give back what was taken away: the first may be in use this minute, and a
// revoked key may be in wrong hands. A person is asked about both where one can be asked; a start names the first.
import type { MemberChange } from './changed-members.ts';
import type { PlannedChange } from './planning.ts';

const switches = new Set(['status', 'function_execution', 'byok', 'presets']);
const offValues = new Set<unknown>(['revoked', 'disabled', false]);

/** `models[acme/large-1] of catalogue`, `key ci of team-a is revoked`. Empty: the file only adds and changes. */
export const destructiveChanges = (changes: readonly PlannedChange[]): string[] =>
  changes.flatMap(({ resource, change, members }) =>
    change === 'removed' ? [resource] : members.flatMap((member) => describe(resource, member)),
  );

/** `key ci of team`: revoked in the store, active by the file. */
export const restoredKeys = (changes: readonly PlannedChange[]): string[] =>
  changes.filter(({ members }) => members.some(isRestored)).map(({ resource }) => resource);

const isRestored = ({ path, from, to }: MemberChange): boolean =>
  path === 'status' && from === 'revoked' && to === 'active';

function describe(resource: string, { path, from, to }: MemberChange): string[] {
  // An entry of a list that is no longer there.
  if (to === undefined) return path.endsWith(']') ? [`${path} of ${resource}`] : [];
  if (switches.has(path.split('.').at(-1) ?? '') && offValues.has(to)) {
    return [path === 'status' ? `${resource} is ${String(to)}` : `${path} of ${resource} is ${to || 'off'}`];
  }
  // Who loses a role may be at work.
  if (resource === 'access') return ['access is replaced: roles that the file does not name end'];
  if (path === 'active' && to === null) return [`active revision ${String(from)} of ${resource}`];
  return [];
}
