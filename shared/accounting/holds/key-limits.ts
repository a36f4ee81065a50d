// Defines the item of an API key as admission uses it: the operator writes status and limits, requests write the
// counters next to them. A key gets no balance, because its spend limit is configuration of the same item, and its
// balance is minus its reserved and spent amounts. So a changed limit counts from the next request on, and needs no
// other write.
import type { SpendLimitReset } from '../../foundation/constants/index.ts';
import { type PicoUsd, parseUsd } from '../../foundation/money/index.ts';
import { absent, type Item } from '../../storage/store/index.ts';
import { type Counter, readAmount, readHeldAmounts, readTimedAttributes, timedName } from './counter.ts';
import type { UpdateDraft } from './update-draft.ts';

export const keyAttributes = {
  secretSha256: 'secret_sha256',
  status: 'status',
  requestsPerMinute: 'requests_per_minute',
  /** Limit of concurrent calls. Null or absent: the default of the service. */
  concurrency: 'concurrency',
  spendLimitUsd: 'spend_limit_usd',
  /** `daily`, `weekly` or `monthly`; null or absent: never. */
  spendLimitReset: 'spend_limit_reset',
  /** Expiry; null or absent: never. */
  expiresAtMs: 'expires_at_ms',
  /** Public id of the key's text, if a rotation made that text. If absent, the text has the public id of the item. */
  publicId: 'public_id',
  /** Texts that rotations replaced, the newest first, each with an expiry. */
  formerSecrets: 'former_secrets',
  /** Number of changes of its settings. Absent if they never changed. */
  settingsVersion: 'settings_version',
} as const;

const balanceAttribute = 'balance_pico_usd';
const spentAttribute = 'spent_pico_usd';

interface KeyLimits {
  readonly requestsPerMinute: number | null;
  readonly spendLimitUsd: string | null;
  readonly spendLimitReset: SpendLimitReset | null;
}

function readKeyLimits(item: Item): KeyLimits {
  return {
    requestsPerMinute: (item[keyAttributes.requestsPerMinute] ?? null) as number | null,
    spendLimitUsd: (item[keyAttributes.spendLimitUsd] ?? null) as string | null,
    spendLimitReset: (item[keyAttributes.spendLimitReset] ?? null) as SpendLimitReset | null,
  };
}

export const hasSpendLimit = (item: Item): boolean => readKeyLimits(item).spendLimitUsd !== null;

/**
 * Returns the counter of a key, whose balance may fall to minus the limit and minus the amount spent before the period
 * began.
 */
export const keyCounter = (publicId: string, limit: PicoUsd | null): Counter => ({
  table: 'keys',
  key: publicId,
  balances: [{ attribute: balanceAttribute, limit }],
  spentAttribute,
});

/** Returns the counter of a key whose concurrent calls are limited. */
export const keySlots = (publicId: string, slotsMax: number | null): Counter => ({
  ...keyCounter(publicId, null),
  slotsMax,
});

/** Returns the charge of a key for which nothing was reserved, because nothing limits its spending. */
export const keyCharge = (publicId: string, nowMs: () => number) => ({
  kind: 'charge' as const,
  counter: keyCounter(publicId, null),
  requiredAttribute: keyAttributes.secretSha256,
  prepare: (draft: UpdateDraft, item: Item) => openPeriod(draft, item, nowMs()),
});

interface KeySpending {
  /** Spend limit; null for none. */
  readonly limit: PicoUsd | null;
  /** Amount spent in the current period; without a reset, ever. */
  readonly spent: PicoUsd;
  readonly held: PicoUsd;
  /** Time at which the counted spend began. Null without a reset. */
  readonly periodStartMs: number | null;
}

export function readKeySpending(item: Item, nowMs: number): KeySpending {
  const { spendLimitUsd, spendLimitReset } = readKeyLimits(item);
  return {
    periodStartMs: spendLimitReset === null ? null : periodStartMs(spendLimitReset, nowMs),
    limit: spendLimitUsd === null ? null : readLimit(spendLimitUsd),
    spent: readAmount(item[spentAttribute]) - spentBeforePeriod(item, nowMs),
    held: readHeldAmounts(item)
      .filter(({ expiresAtMs }) => expiresAtMs > nowMs)
      .reduce((sum, { amount }) => sum + amount, 0n),
  };
}

/** Returns how far the balance may fall below 0. Null: no limit. */
export function balanceLimit(item: Item, nowMs: number): PicoUsd | null {
  const { spendLimitUsd } = readKeyLimits(item);
  return spendLimitUsd === null ? null : readLimit(spendLimitUsd) + spentBeforePeriod(item, nowMs);
}

function readLimit(spendLimitUsd: string): PicoUsd {
  const limit = parseUsd(spendLimitUsd);
  if (limit === undefined) throw new Error('the spend limit of a stored key is no amount');
  return limit;
}

/** Returns the amount spent before the period: before the first write of a period, everything spent so far. */
function spentBeforePeriod(item: Item, nowMs: number): PicoUsd {
  const { spendLimitReset } = readKeyLimits(item);
  if (spendLimitReset === null) return 0n;
  return readAmount(item[periodAttribute(spendLimitReset, nowMs)] ?? item[spentAttribute]);
}

/** Stores the amount spent before the period, with the first write of the period, whatever else that write does. */
export function openPeriod(draft: UpdateDraft, item: Item, nowMs: number): void {
  const { spendLimitReset } = readKeyLimits(item);
  if (spendLimitReset === null) return;
  const current = periodAttribute(spendLimitReset, nowMs);
  if (item[current] !== undefined) return;
  if (item[spentAttribute] === undefined) {
    draft.set(current, 0n);
    draft.require(absent(spentAttribute));
  } else {
    draft.copyIfAbsent(current, spentAttribute);
  }
  for (const { name } of readTimedAttributes(item, 'periodStart')) draft.remove(name);
}

const periodAttribute = (reset: SpendLimitReset, nowMs: number): string =>
  timedName('periodStart', periodStartMs(reset, nowMs) / 1_000);

function periodStartMs(reset: SpendLimitReset, nowMs: number): number {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const daysSinceMonday = (now.getUTCDay() + 6) % 7;
  if (reset === 'monthly') return Date.UTC(year, month, 1);
  return Date.UTC(year, month, reset === 'weekly' ? day - daysSinceMonday : day);
}
