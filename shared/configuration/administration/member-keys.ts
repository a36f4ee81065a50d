// Keys that people make for themselves, within what the owners of a workspace allow.
import { parseUsd } from '../../foundation/money/index.ts';
import { readDuration } from '../../foundation/time/index.ts';
import type { KeyRecord } from '../keys/index.ts';
import type { MemberKeys, WorkspaceDocument } from '../workspaces/index.ts';
import { ChangeFailed } from './change-failed.ts';
import type { KeyChanges } from './key-rules.ts';
import type { AdministrationDependencies } from './operator-stores.ts';

type Limits = Pick<KeyChanges, 'rpm' | 'spendLimitUsd' | 'spendLimitReset' | 'expiresAtMs'> & {
  readonly concurrency?: number | null | undefined;
};

/** What a key of a member may have at the most. Null: no such limit. */
interface Bounds extends Omit<MemberKeys, 'expires_in'> {
  readonly expiresAtMs: number | null;
}

/** Throws ChangeFailed where members make no keys in this workspace. */
export function memberBounds({ id, member_keys: allowed }: WorkspaceDocument, nowMs: number): Bounds {
  if (allowed === undefined || allowed === null) {
    const message = `workspace ${id} lets members make no keys: one of its owners sets member_keys`;
    throw new ChangeFailed('forbidden', message);
  }
  const { expires_in: expiresIn, ...bounds } = allowed;
  const lengthMs = expiresIn === null ? null : (readDuration(expiresIn, ['h', 'd', 'w']) ?? 0);
  return { ...bounds, expiresAtMs: lengthMs === null ? null : nowMs + lengthMs };
}

/** Of a new key: what is left out is as much as there may be. Throws ChangeFailed for more than that. */
export function withinBounds(wanted: KeyChanges, bounds: Bounds): KeyChanges {
  checkWithin(wanted, bounds);
  return { ...wanted, ...mostOf(bounds, wanted) };
}

const mostOf = (bounds: Bounds, wanted: Limits): Limits => ({
  rpm: wanted.rpm === undefined ? bounds.rpm : wanted.rpm,
  concurrency: wanted.concurrency === undefined ? bounds.concurrency : wanted.concurrency,
  spendLimitUsd: wanted.spendLimitUsd === undefined ? bounds.spend_limit_usd : wanted.spendLimitUsd,
  spendLimitReset: wanted.spendLimitReset === undefined ? bounds.spend_limit_reset : wanted.spendLimitReset,
  expiresAtMs: wanted.expiresAtMs === undefined ? bounds.expiresAtMs : wanted.expiresAtMs,
});

/** Of a change: what is left out stays. Throws ChangeFailed. */
export function checkWithin(wanted: Limits, bounds: Bounds): void {
  const refuse = (member: string, most: unknown) => {
    throw new ChangeFailed('forbidden', `${member} of a member's key is at most ${most} in this workspace`);
  };
  if (exceeds(wanted.rpm, bounds.rpm)) refuse('rpm', bounds.rpm);
  if (exceeds(wanted.concurrency, bounds.concurrency)) refuse('concurrency', bounds.concurrency);
  if (exceeds(amountOf(wanted.spendLimitUsd), amountOf(bounds.spend_limit_usd) ?? null)) {
    refuse('spend_limit_usd', bounds.spend_limit_usd);
  }
  if (exceeds(wanted.expiresAtMs, bounds.expiresAtMs)) {
    refuse('expires_at', new Date(bounds.expiresAtMs ?? 0).toISOString());
  }
  // A limit that starts again more often lets more be spent.
  const reset = wanted.spendLimitReset;
  if (bounds.spend_limit_usd !== null && reset !== undefined && reset !== bounds.spend_limit_reset) {
    refuse('spend_limit_reset', bounds.spend_limit_reset ?? 'none');
  }
}

/** Undefined: nothing is asked for. Null: no limit. */
const exceeds = <Value extends number | bigint>(wanted: Value | null | undefined, most: Value | null): boolean =>
  wanted !== undefined && most !== null && (wanted === null || wanted > most);

const amountOf = (usd: string | null | undefined): bigint | null | undefined =>
  typeof usd === 'string' ? (parseUsd(usd) ?? 0n) : usd;

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
