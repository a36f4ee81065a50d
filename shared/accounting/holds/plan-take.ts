// What a request that wants a hold does next, from what it has seen of the item. Pure.
import type { Item } from '../../storage/store/index.ts';
import { sumOf } from './balance-parts.ts';
import { type Counter, findHold, type Hold, readAvailable } from './counter.ts';
import { takeParts } from './hold-parts.ts';
import { expiredHolds, reclaimedPerWriteMax, reclaimParts } from './reclaim-parts.ts';
import type { WriteParts } from './write-parts.ts';

export type TakePlan =
  | { readonly kind: 'take'; readonly parts: WriteParts }
  /** More dead owners than one write may put right: do this write, and plan again. */
  | { readonly kind: 'heal'; readonly parts: WriteParts }
  /** The hold stands already: its first try was done and the answer was lost. */
  | { readonly kind: 'standing' }
  | { readonly kind: 'insufficient'; readonly available: bigint };

/**
 * `seen`: the item as it stands, {} where there is none, undefined while nobody looked: then the write finds out.
 * Throws an Error where the owner holds something else already.
 */
export function planTake(counter: Counter, hold: Hold, seen: Item | undefined, nowMs: number): TakePlan {
  if (seen === undefined) return { kind: 'take', parts: takeParts(counter, hold, [], nowMs) };
  const standing = findHold(seen, hold.owner);
  if (standing !== undefined) return asStanding(standing, hold);
  const available = readAvailable(counter, seen);
  if (available === null || available >= hold.amount) {
    return { kind: 'take', parts: takeParts(counter, hold, [], nowMs) };
  }
  const expired = expiredHolds(seen, nowMs);
  const reclaimable = available + sumOf(expired);
  if (reclaimable < hold.amount) return { kind: 'insufficient', available: reclaimable };
  const batch = expired.slice(0, reclaimedPerWriteMax);
  if (available + sumOf(batch) < hold.amount) return { kind: 'heal', parts: reclaimParts(counter, batch, nowMs) };
  return { kind: 'take', parts: takeParts(counter, hold, batch, nowMs) };
}

function asStanding(standing: Hold, hold: Hold): TakePlan {
  const isSame = standing.amount === hold.amount && standing.expiresAtMs === hold.expiresAtMs;
  if (!isSame) throw new Error('the owner of a hold took another one before: an owner is one request');
  return { kind: 'standing' };
}
