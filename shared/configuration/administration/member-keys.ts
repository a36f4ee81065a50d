// Makes the keys that people make for themselves, within the limits that the owners of a workspace set.
import { parseUsd } from '../../foundation/money/index.ts';
import { instantOf, readDuration } from '../../foundation/time/index.ts';
import { fromWrittenKey, type KeyRecord, type WrittenKey, writtenKey } from '../keys/index.ts';
import { keySettings, type MemberLimit, type Setting } from '../settings/index.ts';
import { withoutUndefined } from '../value-forms/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed, refuseAs } from './change-failed.ts';
import type { KeyChanges } from './key-rules.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

/** Upper limits of a member's key. Null: no limit. */
interface Bounds {
  /** Maximum number of keys that one person may have at once. */
  readonly max: number;
  readonly limits: Partial<Pick<WrittenKey, MemberLimit | 'expires_at'>>;
}

/** Returns the limits. Throws ChangeFailed if members may not make keys in this workspace. */
export function memberBounds({ id, member_keys: allowed }: WorkspaceDocument, nowMs: number): Bounds {
  if (allowed === undefined || allowed === null) {
    const message = `workspace ${id} lets members make no keys: one of its owners sets member_keys`;
    throw new ChangeFailed('forbidden', message);
  }
  const { max, expires_in: expiresIn = null, ...limits } = allowed;
  const lengthMs = expiresIn === null ? null : (readDuration(expiresIn, ['h', 'd', 'w']) ?? 0);
  return { max, limits: { ...limits, expires_at: lengthMs === null ? null : instantOf(nowMs + lengthMs) } };
}

/** Applies the limits to a new key. Absent settings get the upper limit. Throws ChangeFailed above the limit. */
export function withinBounds(wanted: KeyChanges, bounds: Bounds): KeyChanges {
  checkWithin(wanted, bounds);
  return { ...fromWrittenKey(bounds.limits), ...withoutUndefined(wanted) };
}

/** Applies the limits to a change. Absent settings keep their values. Throws ChangeFailed. */
export function checkWithin(changes: KeyChanges, { limits }: Bounds): void {
  const settings = writtenKey(changes);
  for (const [param, { role }] of Object.entries<Setting>(keySettings)) {
    if (role === undefined || settings[param as keyof WrittenKey] === undefined) continue;
    throw new ChangeFailed('forbidden', `${param} of a key is set by an ${role}`, { param });
  }
  const { spend_limit_reset: reset = null, ...ordered } = limits;
  for (const [member, most = null] of Object.entries(ordered)) {
    if (exceeds(settings[member as keyof typeof ordered], most)) refuse(member, most);
  }
  // A limit that resets more often allows more spending.
  if (limits.spend_limit_usd != null && ![undefined, reset].includes(settings.spend_limit_reset)) {
    refuse('spend_limit_reset', reset);
  }
}

const refuse = (member: string, most: unknown): never => {
  const message = `${member} of a member's key is at most ${most ?? 'none'} in this workspace`;
  throw new ChangeFailed('forbidden', message, { param: member });
};

type Limit = number | string | null;

/** True if the wanted limit is higher. Undefined asks for nothing; null means no limit. */
const exceeds = (wanted: Limit | undefined, most: Limit): boolean =>
  wanted !== undefined && most !== null && (wanted === null || sizeOf(wanted) > sizeOf(most));

/** Returns the size of a number, an amount of USD or an instant, which is compared with values of its own kind. */
const sizeOf = (limit: number | string): number | bigint =>
  typeof limit === 'number' ? limit : (parseUsd(limit) ?? Date.parse(limit));

/** Claims a slot; called before a key is made for a person. Throws ChangeFailed at the maximum number. */
export async function claimMemberSlot(
  { keys, clock }: Pick<AdministrationDependencies, 'keys' | 'clock'>,
  { workspace, publicId, owner }: Pick<KeyRecord, 'workspace' | 'publicId'> & { readonly owner: string },
  max: number,
): Promise<void> {
  const claiming = keys.claimMemberSlot({ workspace, publicId, owner, max }, clock.nowMs());
  if (await claiming.catch(refuseAs('conflict'))) return;
  throw new ChangeFailed(
    'forbidden',
    `a member has at most ${max} keys in workspace ${workspace}, ending ones included: revoke one first`,
  );
}
