// Keys that people make for themselves, within what the owners of a workspace allow.
import { parseUsd } from '../../foundation/money/index.ts';
import { readDuration } from '../../foundation/time/index.ts';
import {
  fromWrittenKey,
  type KeyLimits,
  type KeyRecord,
  noLimits,
  type WrittenKey,
  writtenKey,
} from '../keys/index.ts';
import { written } from '../value-forms/index.ts';
import type { WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed } from './change-failed.ts';
import type { KeyChanges } from './key-rules.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

/** What a key of a member may have at the most. Null: no such limit. */
interface Bounds {
  /** Keys of one person at once. */
  readonly max: number;
  readonly limits: KeyLimits & Pick<WrittenKey, 'expires_at'>;
}

/** Throws ChangeFailed where members make no keys in this workspace. */
export function memberBounds({ id, member_keys: allowed }: WorkspaceDocument, nowMs: number): Bounds {
  if (allowed === undefined || allowed === null) {
    const message = `workspace ${id} lets members make no keys: one of its owners sets member_keys`;
    throw new ChangeFailed('forbidden', message);
  }
  const { max, expires_in: expiresIn, ...limits } = allowed;
  const lengthMs = expiresIn === null ? null : (readDuration(expiresIn, ['h', 'd', 'w']) ?? 0);
  return {
    max,
    limits: { ...noLimits, ...limits, expires_at: lengthMs === null ? null : new Date(nowMs + lengthMs).toISOString() },
  };
}

/** Of a new key: what is left out is as much as there may be. Throws ChangeFailed for more than that. */
export function withinBounds(wanted: KeyChanges, bounds: Bounds): KeyChanges {
  checkWithin(wanted, bounds);
  return { ...fromWrittenKey(bounds.limits), ...written(wanted) };
}

/** Of a change: what is left out stays. Throws ChangeFailed. */
export function checkWithin(changes: KeyChanges, { limits }: Bounds): void {
  const wanted = writtenKey(changes);
  const { spend_limit_reset: reset, ...ordered } = limits;
  for (const [member, most] of Object.entries(ordered)) {
    if (exceeds(wanted[member as keyof typeof ordered], most)) refuse(member, most);
  }
  // A limit that starts again more often lets more be spent.
  if (limits.spend_limit_usd !== null && ![undefined, reset].includes(wanted.spend_limit_reset)) {
    refuse('spend_limit_reset', reset);
  }
}

const refuse = (member: string, most: unknown): never => {
  throw new ChangeFailed('forbidden', `${member} of a member's key is at most ${most ?? 'none'} in this workspace`);
};

type Limit = number | string | null;

/** Undefined: nothing is asked for. Null: no limit. */
const exceeds = (wanted: Limit | undefined, most: Limit): boolean =>
  wanted !== undefined && most !== null && (wanted === null || sizeOf(wanted) > sizeOf(most));

/** Of a number, an amount of USD or an instant: each is compared with its like. */
const sizeOf = (limit: number | string): number | bigint =>
  typeof limit === 'number' ? limit : (parseUsd(limit) ?? Date.parse(limit));

/** Before a key is made for a person. Throws ChangeFailed where they have as many as there may be. */
export async function claimMemberSlot(
  { keys, clock }: Pick<AdministrationDependencies, 'keys' | 'clock'>,
  { workspace, publicId, owner }: Pick<KeyRecord, 'workspace' | 'publicId'> & { readonly owner: string },
  max: number,
): Promise<void> {
  if (await keys.claimMemberSlot({ workspace, publicId, owner, max }, clock.nowMs())) return;
  throw new ChangeFailed(
    'forbidden',
    `a member has at most ${max} keys in workspace ${workspace}, ending ones included: revoke one first`,
  );
}
