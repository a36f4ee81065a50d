// Reads the current use of a provider's limits, over all shards of its counters. For the operator, never on a request's
// path.
import type { Store } from '../../storage/store/index.ts';
import { readWindowUse } from '../holds/index.ts';
import { demandsOf, type EntryLimits, hasNoLimit, type LimitedEntry, limitItemKey, shardCountOf } from './limits.ts';

interface LimitUse {
  readonly limit: number;
  readonly used: number;
}

/** Use by limit; null if the entry does not have the limit. */
type LimitsUse = { readonly [Name in keyof EntryLimits]: LimitUse | null };

const noDemand = { tokens: 0, requests: 0 };

export async function readLimitUse(
  store: Pick<Store, 'get'>,
  entry: LimitedEntry,
  limits: EntryLimits,
  nowMs: number,
): Promise<LimitsUse> {
  if (hasNoLimit(limits)) return { rpm: null, tpm: null, tpd: null };
  const shards = Array.from({ length: shardCountOf(limits) }, (_none, shard) => limitItemKey(entry, shard));
  const items = await Promise.all(shards.map(async (key) => (await store.get('limits', key)) ?? {}));
  const windows = new Map(
    demandsOf(limits, noDemand).map(({ window, limit }) => [window.totalAttribute, { window, limit }]),
  );
  const useOf = (name: keyof EntryLimits): LimitUse | null => {
    const windowDemand = demandsOf({ rpm: null, tpm: null, tpd: null, [name]: limits[name] }, noDemand)[0];
    const known = windowDemand && windows.get(windowDemand.window.totalAttribute);
    if (known === undefined) return null;
    const used = items.reduce((sum, item) => sum + readWindowUse(known.window, item, nowMs), 0n);
    return { limit: Number(known.limit), used: Number(used) };
  };
  return { rpm: useOf('rpm'), tpm: useOf('tpm'), tpd: useOf('tpd') };
}

/** Shortest time between two tries, because many calls may wait for one slot, and every try costs a write. */
const tryIntervalMinMs = 50;

/**
 * Returns the milliseconds after which a limited call asks again, when the slot is free. Undefined if that would be
 * after its `queueMs` (of which it has spent `queuedMs`), or would leave nothing of its budget (`remainingMs`) for the
 * provider.
 */
export function nextTry(
  retryAfterMs: number,
  queuedMs: number,
  queueMs: number,
  remainingMs: number,
): number | undefined {
  const waitMaxMs = Math.min(queueMs - queuedMs, remainingMs - 1);
  if (waitMaxMs < 1 || retryAfterMs > waitMaxMs) return undefined;
  return Math.min(Math.max(retryAfterMs, tryIntervalMinMs), waitMaxMs);
}
