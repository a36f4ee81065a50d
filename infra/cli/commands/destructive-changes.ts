// What of a file is asked about before it is applied: what it removes may be in use this minute, and a key that was revoked may
// have leaked.
import type { MemberChange, RehearsedChange } from '../../../shared/configuration/gateway-file/index.ts';

const switches = new Set(['status', 'function_execution']);
const offValues = new Set<unknown>(['revoked', 'disabled']);

/** `models[acme/large-1] of catalogue`, `key ci of team-a is revoked`. Empty: the file only adds and changes. */
export const removedBy = (changes: readonly RehearsedChange[]): string[] =>
  changes.flatMap(({ resource, change, members }) =>
    change === 'removed' ? [resource] : members.filter(takesAway).map((member) => describe(resource, member)),
  );

/** `key ci of team`: revoked in the store, active by the file. */
export const restoredBy = (changes: readonly RehearsedChange[]): string[] =>
  changes.filter(({ members }) => members.some(comesBack)).map(({ resource }) => resource);

const comesBack = ({ path, from, to }: MemberChange): boolean =>
  path === 'status' && from === 'revoked' && to === 'active';

/** An entry of a list that is no longer there, or something that is switched off. */
const takesAway = ({ path, to }: MemberChange): boolean =>
  to === undefined ? path.endsWith(']') : switches.has(lastStep(path)) && offValues.has(to);

const describe = (resource: string, { path, to }: MemberChange): string =>
  to === undefined ? `${path} of ${resource}` : `${resource} is ${String(to)}`;

const lastStep = (path: string): string => path.split('.').at(-1) ?? '';
