// What admission of a key does next, from the item as it was seen last. Pure. The order of the checks is the precedence
// of their errors (contract 5): unknown, revoked, requests per minute, money.
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import type { Item } from '../../storage/store/index.ts';
import type { Hold } from './counter.ts';
import { type KeyLimits, keyAttributes, keyCounter, readKeyLimits } from './key-counter.ts';
import { planTake } from './plan-take.ts';
import { planCount } from './rate-window.ts';
import type { WriteParts } from './write-parts.ts';

export interface KeyWish {
  readonly publicId: string;
  readonly secretSha256: string;
  readonly nowMs: number;
  /** False where an earlier write of the same request has counted it. */
  readonly countsRequest: boolean;
  readonly hold: Hold | undefined;
}

/** A hold that was taken from a key: what its settlement needs. */
export interface KeyHold extends Hold {
  readonly publicId: string;
}

export type KeyAdmission =
  /** `hold` is undefined where none was asked for, or the key has no spend limit. */
  | { readonly kind: 'admitted'; readonly item: Item; readonly hold: KeyHold | undefined }
  /** No such key, or another secret. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'revoked'; readonly item: Item }
  | { readonly kind: 'rate_limited'; readonly retryAfterMs: number; readonly item: Item }
  | { readonly kind: 'spend_limit'; readonly needed: bigint; readonly available: bigint; readonly item: Item };

export type KeyPlan =
  | { readonly kind: 'answer'; readonly answer: KeyAdmission }
  | { readonly kind: 'admit'; readonly parts: readonly WriteParts[]; readonly hold: KeyHold | undefined }
  | { readonly kind: 'heal'; readonly parts: readonly WriteParts[] }
  /** The item is only remembered, and the answer depends on what it says now: read it. */
  | { readonly kind: 'look' };

/** `isCurrent`: the item comes from this admission's own read or refused write, not from memory. */
export function planKeyAdmission(wish: KeyWish, item: Item, isCurrent: boolean): KeyPlan {
  const { publicId, secretSha256, nowMs } = wish;
  // A key never changes its secret, so an old copy of the item answers this as well as a new one.
  if (!equalInConstantTime(String(item[keyAttributes.secretSha256]), secretSha256)) return answer({ kind: 'unknown' });
  const limits = readKeyLimits(item);
  const now = (current: KeyAdmission): KeyPlan => (isCurrent ? answer(current) : { kind: 'look' });
  if (!limits.isActive || hasExpired(item, nowMs)) return now({ kind: 'revoked', item });

  const hold = wish.hold === undefined || limits.spendLimitUsd === null ? undefined : { ...wish.hold, publicId };
  const counter = keyCounter(publicId, limits.spendLimitUsd);
  const take = hold && planTake(counter, hold, isCurrent ? item : undefined, nowMs);
  // One write counts and holds: where the hold stands, the request is counted.
  if (take?.kind === 'standing') return now({ kind: 'admitted', item, hold });

  const count =
    wish.countsRequest && limits.requestsPerMinute !== null
      ? planCount(keyAttributes.requestsPerMinute, limits.requestsPerMinute, item, nowMs)
      : undefined;
  if (count?.kind === 'full') return now({ kind: 'rate_limited', retryAfterMs: count.retryAfterMs, item });
  if (take?.kind === 'insufficient') {
    const needed = wish.hold?.amount ?? 0n;
    return now({ kind: 'spend_limit', needed, available: take.available, item });
  }
  if (take?.kind === 'heal') return { kind: 'heal', parts: [take.parts] };

  const parts = [...(count === undefined ? [] : [count.parts]), ...(take?.kind === 'take' ? [take.parts] : [])];
  // Nothing to count: a look at the item is enough, and the key costs no write.
  if (parts.length === 0) return now({ kind: 'admitted', item, hold: undefined });
  return { kind: 'admit', parts: [...asSeenParts(wish, limits), ...parts], hold };
}

/** A key without an expiry has null, or no such member. A changed expiry is seen by the second call after the change. */
const hasExpired = (item: Item, nowMs: number): boolean => {
  const expiresAtMs = item[keyAttributes.expiresAtMs];
  return typeof expiresAtMs === 'number' && expiresAtMs <= nowMs;
};

const answer = (admission: KeyAdmission): KeyPlan => ({ kind: 'answer', answer: admission });

/** The key is active, and its limits are those the write is made for. `planCount` compares the numbers of requests. */
const asSeenParts = (
  { countsRequest, hold }: KeyWish,
  { requestsPerMinute, spendLimitUsd }: KeyLimits,
): readonly WriteParts[] => [
  { conditions: ['#status = :active'], names: { '#status': keyAttributes.status }, values: { ':active': 'active' } },
  ...(countsRequest && requestsPerMinute === null ? [isNull(keyAttributes.requestsPerMinute)] : []),
  ...(hold !== undefined && spendLimitUsd === null ? [isNull(keyAttributes.spendLimitUsd)] : []),
  ...(hold !== undefined && spendLimitUsd !== null ? [isLimit(spendLimitUsd)] : []),
];

const isNull = (attribute: string): WriteParts => ({
  conditions: [`attribute_type(${attribute}, :nullType)`],
  values: { ':nullType': 'NULL' },
});

const isLimit = (spendLimitUsd: string): WriteParts => ({
  conditions: [`${keyAttributes.spendLimitUsd} = :spendLimit`],
  values: { ':spendLimit': spendLimitUsd },
});
