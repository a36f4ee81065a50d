// Admits a request of an API key. One UpdateItem checks that the key is active, counts the request and reserves its
// spending, so concurrent requests exceed no limit. The sequence of the checks is the precedence of their errors:
// unknown, revoked, requests per minute, money.
import { equalInConstantTime } from '../../foundation/ids/index.ts';
import { type Item, unchanged } from '../../storage/store/index.ts';
import { faultOfHold, type Hold, type SeenItem } from './counter.ts';
import type { ItemWriter } from './item-writer.ts';
import { balanceLimit, hasSpendLimit, keyAttributes, keyCounter, openPeriod } from './key-limits.ts';
import { isSecretActive, secretOf } from './key-secrets.ts';
import type { Count, Demand, Limited, Refusal, Rejected, ReservationOutcome } from './requests.ts';
import type { UpdateDraft } from './update-draft.ts';
import { requestsPerMinute } from './windows.ts';

export interface KeyRequest {
  readonly publicId: string;
  /** A key with another secret is unknown, and nothing is counted. */
  readonly secretSha256: string;
  /**
   * The item of an earlier answer for this key, however old. It saves the read, and never decides. For a public id that
   * a rotation made, it shows where the item is.
   */
  readonly known?: Item | undefined;
  /** Default true. False if an earlier call has counted this request and only the reservation is needed. */
  readonly countsRequest?: boolean;
  /** Limit for keys without a limit of their own; no limit if absent. */
  readonly defaultRequestsPerMinute?: number | undefined;
  /**
   * Counts one request for several, if the default limit is the only reason for a write. If absent, each request is
   * counted.
   */
  readonly sampling?: { readonly requestsPerCount: number; readonly isCounted: () => boolean } | undefined;
}

export interface PaidKeyRequest extends KeyRequest {
  /** The amount is reserved if the key has a spend limit, the slot if the key has a concurrency. */
  readonly hold?: Hold | undefined;
  /** Limit for keys without a limit of their own. Null or absent: no limit. */
  readonly defaultConcurrency?: number | null | undefined;
}

/**
 * A reservation from a key, with everything that its settlement needs. An amount of 0 means that the key has no spend
 * limit.
 */
export interface KeyHold extends Hold {
  /** Public id of the item. */
  readonly publicId: string;
  /** Maximum number of slots, if there is one. */
  readonly slotsMax?: number | null | undefined;
}

type KeyRefusal =
  /** The store has no key with this public id, or the secret of the key is another. */
  | { readonly kind: 'unknown' }
  /** The key is revoked or expired. */
  | { readonly kind: 'revoked'; readonly item: Item }
  | {
      readonly kind: 'rate_limited';
      readonly requestsPerMinute: number;
      readonly retryAfterMs: number;
      readonly item: Item;
    };

/** The outcome of a request that reserves no money. */
export type KeyCount = { readonly kind: 'counted'; readonly item: Item } | KeyRefusal;

export type KeyAdmission =
  /** `hold` is undefined if no reservation was requested, or nothing of the reservation is limited. */
  | { readonly kind: 'admitted'; readonly item: Item; readonly hold: KeyHold | undefined }
  | {
      readonly kind: 'spend_limit';
      readonly needed: bigint;
      readonly available: bigint;
      readonly item: Item;
    }
  /** Maximum number of the key's concurrent calls. */
  | { readonly kind: 'concurrency'; readonly concurrency: number; readonly item: Item }
  | KeyRefusal;

export async function countKeyRequest(writer: ItemWriter, request: KeyRequest): Promise<KeyCount> {
  const address = { table: 'keys', key: itemIdOf(request), known: request.known } as const;
  // The caller reports the amount spent.
  const outcome = await writer.reserve(address, (seen, nowMs) => {
    const assessed = assess(request, seen, nowMs);
    return assessed === 'look' || 'reason' in assessed ? assessed : { ...assessed, needsItem: true };
  });
  return outcome.kind === 'reserved' ? { kind: 'counted', item: outcome.item } : refusalOf(request, outcome);
}

/** Buckets that count a reservation. */
export interface HoldBuckets {
  readonly bucket: string;
  readonly slotBucket: string | undefined;
}

export function admitKey(
  writer: ItemWriter,
  request: PaidKeyRequest,
  buckets: HoldBuckets | undefined,
): Promise<KeyAdmission> {
  const { known, hold } = request;
  const fault = hold === undefined ? undefined : faultOfHold(hold);
  if (fault !== undefined) return Promise.reject(fault);
  const publicId = itemIdOf(request);
  const address = { table: 'keys', key: publicId, known, owner: hold?.owner } as const;
  return writer.reserve(
    address,
    (seen, nowMs) => assessWithHold(request, buckets, seen, nowMs),
    (outcome) => admissionOf(request, publicId, outcome),
  );
}

function admissionOf(
  request: PaidKeyRequest,
  publicId: string,
  outcome: ReservationOutcome<ReturnType<typeof assessWithHold>>,
): KeyAdmission {
  const { hold } = request;
  const { item } = outcome;
  if (outcome.kind === 'insufficient' && outcome.short === 'amount') {
    return { ...outcome, kind: 'spend_limit', needed: hold?.amount ?? 0n };
  }
  if (outcome.kind === 'insufficient')
    return { kind: 'concurrency', concurrency: concurrencyOf(request, item) ?? 0, item };
  if (outcome.kind !== 'reserved') return refusalOf(request, outcome);
  if (hold === undefined) return { kind: 'admitted', item, hold };
  // The write required that the limits had not changed.
  const { amount, slot } = limitedHold(request, hold, item);
  const slotsMax = concurrencyOf(request, item);
  const isHeld = amount > 0n || slot;
  return { kind: 'admitted', item, hold: isHeld ? { ...hold, amount, slot, publicId, slotsMax } : undefined };
}

const itemIdOf = ({ publicId, known }: KeyRequest): string => String(known?.pk ?? publicId);

/** True if limits of the key itself make a request write to its item. */
export const hasOwnLimits = (item: Item): boolean =>
  [keyAttributes.concurrency, keyAttributes.requestsPerMinute, keyAttributes.spendLimitUsd].some(
    (attribute) => item[attribute] != null,
  );

/** Returns the limit; null for any number of calls. */
export const concurrencyOf = (
  { defaultConcurrency = null }: Pick<PaidKeyRequest, 'defaultConcurrency'>,
  item: Item,
): number | null => (item[keyAttributes.concurrency] as number | null | undefined) ?? defaultConcurrency;

/** Returns the part of a reservation that a key limits, and therefore counts. */
function limitedHold(request: PaidKeyRequest, { amount, slot = false }: Hold, item: Item) {
  return { amount: hasSpendLimit(item) ? amount : 0n, slot: slot && concurrencyOf(request, item) !== null };
}

const nothingHeld = { amount: 0n, slot: false };

type Unusable = 'unknown' | 'revoked';

const requestsPerMinuteOf = ({ defaultRequestsPerMinute }: KeyRequest, item: Item): number | null =>
  (item[keyAttributes.requestsPerMinute] as number | null | undefined) ?? defaultRequestsPerMinute ?? null;

function refusalOf(request: KeyRequest, outcome: Rejected<Unusable> | Limited): KeyRefusal {
  const { item } = outcome;
  if (outcome.kind === 'limited') {
    return { ...outcome, kind: 'rate_limited', requestsPerMinute: Number(requestsPerMinuteOf(request, item)) };
  }
  return outcome.reason === 'unknown' ? { kind: 'unknown' } : { kind: 'revoked', item };
}

interface CountDemand extends Required<Pick<Demand, 'balances' | 'counts' | 'prepare'>> {}

function assess(
  request: KeyRequest,
  seen: SeenItem | undefined,
  nowMs: number,
): CountDemand | Refusal<Unusable> | 'look' {
  if (seen === undefined) return 'look';
  const { item } = seen;
  const secret = secretOf(item, request.publicId);
  // An old copy of the item lacks a text that a rotation has made since; the secret of a public id never changes.
  if (secret === undefined) return { reason: 'unknown', isFinal: false };
  if (!equalInConstantTime(secret.secretSha256, request.secretSha256)) return { reason: 'unknown', isFinal: true };
  if (!isSecretActive(secret, nowMs)) return { reason: 'revoked', isFinal: false };
  return {
    balances: keyCounter('', balanceLimit(item, nowMs)).balances,
    counts: countsOf(request, item),
    prepare: (draft) => requireAsSeen(draft, item, settingAttributes),
  };
}

function countsOf({ countsRequest = true, sampling, ...request }: KeyRequest, item: Item): readonly Count[] {
  const limit = requestsPerMinuteOf(request, item);
  if (!countsRequest || limit === null) return [];
  const count = { window: requestsPerMinute, limit: BigInt(limit) };
  if (sampling === undefined) return [{ ...count, amount: 1n }];
  return [{ ...count, amount: BigInt(sampling.requestsPerCount), isCounted: sampling.isCounted() }];
}

function assessWithHold(
  { hold, sampling, ...request }: PaidKeyRequest,
  buckets: HoldBuckets | undefined,
  seen: SeenItem | undefined,
  nowMs: number,
): (CountDemand & Pick<Demand, 'hold' | 'slot'>) | Refusal<Unusable> | 'look' {
  if (seen === undefined) return 'look';
  const { item } = seen;
  const { amount, slot } = hold === undefined ? nothingHeld : limitedHold(request, hold, item);
  const isWritten = amount > 0n || slot || item[keyAttributes.requestsPerMinute] != null;
  const assessed = assess(isWritten ? request : { ...request, sampling }, seen, nowMs);
  if (assessed === 'look' || 'reason' in assessed) return assessed;
  if (hold === undefined || buckets === undefined) return assessed;
  const { bucket, slotBucket } = buckets;
  return {
    ...assessed,
    hold: amount > 0n ? { bucket, amount } : undefined,
    slot: slot && slotBucket !== undefined ? { bucket: slotBucket, limit: concurrencyOf(request, item) } : undefined,
    prepare: (draft) => {
      assessed.prepare(draft);
      if (amount > 0n) openPeriod(draft, item, nowMs);
    },
  };
}

/**
 * Attributes that must be unchanged: the version of a key's settings, and its status and end, because a restored backup
 * has a former version next to a later end.
 */
const settingAttributes = [keyAttributes.settingsVersion, keyAttributes.status, keyAttributes.expiresAtMs] as const;

/** Requires that the configuration for which the write is made is unchanged. */
function requireAsSeen(draft: UpdateDraft, item: Item, attributes: readonly string[]): void {
  for (const attribute of attributes) draft.require(unchanged(attribute, item[attribute]));
}

/** Returns the settlement of a key; it opens the period of the spend limit like any other write. */
export const keySettlement = (publicId: string, nowMs: () => number) => ({
  counter: keyCounter(publicId, null),
  prepare: (draft: UpdateDraft, item: Item) => openPeriod(draft, item, nowMs()),
});
