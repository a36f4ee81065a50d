// Expired holds of dead owners: met by a request, given back to the balance, forgotten once nobody can settle them.
import type { Item } from '../../storage/store/index.ts';
import { balanceChanges, balanceNames, sumOf } from './balance-parts.ts';
import { type Counter, type Hold, holdAttribute, isExpired, isForgettable, readHolds } from './counter.ts';
import type { WriteParts } from './write-parts.ts';

/** Entries one write puts right: about 100 characters each of the 4 KB that DynamoDB allows an expression. */
export const reclaimedPerWriteMax = 20;

/** Largest first: the fewest entries free the most. */
export const expiredHolds = (item: Item, nowMs: number): Hold[] =>
  readHolds(item)
    .filter((hold) => hold.amount > 0n && isExpired(hold, nowMs))
    .sort((a, b) => (a.amount > b.amount ? -1 : 1));

/** What a request that meets the item can put right, as much as one write may do. Undefined: nothing. */
export function healParts(counter: Counter, item: Item, nowMs: number): WriteParts | undefined {
  const forgettable = readHolds(item).filter((hold) => hold.amount === 0n && isForgettable(hold, nowMs));
  const batch = [...expiredHolds(item, nowMs), ...forgettable].slice(0, reclaimedPerWriteMax);
  return batch.length === 0 ? undefined : reclaimParts(counter, batch, nowMs);
}

export function reclaimParts(counter: Counter, batch: readonly Hold[], nowMs: number): WriteParts {
  const entries = emptyParts(batch, nowMs);
  return {
    ...entries,
    set: [...(entries.set ?? []), ...balanceChanges(counter, '+', ':freed')],
    names: { ...entries.names, ...balanceNames(counter) },
    values: { ...entries.values, ':freed': sumOf(batch), ':zero': 0n },
  };
}

/**
 * Sets entries to 0, or removes those that nobody can settle any more. All must stand as they were seen: of many
 * requests that meet the same hold one gives it back. The balances are the caller's to change, in the same write.
 */
export function emptyParts(holds: readonly Hold[], nowMs: number): WriteParts {
  if (holds.length === 0) return {};
  const entries = holds.map((hold, index) => ({ hold, index, isKept: !isForgettable(hold, nowMs) }));
  return {
    set: entries.filter(({ isKept }) => isKept).map(({ index }) => `#expired${index}.#amount = :zero`),
    remove: entries.filter(({ isKept }) => !isKept).map(({ index }) => `#expired${index}`),
    conditions: entries.map(
      ({ index }) => `#expired${index}.#amount = :amount${index} AND #expired${index}.#until = :until${index}`,
    ),
    names: {
      '#amount': 'amount',
      '#until': 'until_ms',
      ...Object.fromEntries(entries.map(({ hold, index }) => [`#expired${index}`, holdAttribute(hold.owner)])),
    },
    values: Object.fromEntries(
      entries.flatMap(({ hold, index }) => [
        [`:amount${index}`, hold.amount],
        [`:until${index}`, hold.expiresAtMs],
      ]),
    ),
  };
}
