// Arithmetic of a sliding window, weighted: what counts against a limit is the current window and, of the one before,
// the share that still lies within the last window length. Pure and exact: products go through bigint.
//
//        previous window          current window
//   |------------------------|---------------·--------|
//                            |    elapsed    ·  left  |      used = current + previous × left / window
//
// Used never jumps, not even at a boundary (there the current window becomes the previous one at full weight), and
// without new admissions it only falls: so no double burst at a boundary, and a slot that is free stays free.

export const minuteMs = 60_000;
export const dayMs = 86_400_000;

export interface WindowCount {
  readonly current: number;
  readonly previous: number;
}

/** From 1 to `windowMs`: windows begin at multiples of their length. */
export const leftOfWindowMs = (atMs: number, windowMs: number): number => windowMs - (atMs % windowMs);

/** What `previous` still counts with `leftMs` of the current window to go, rounded up. */
export function weightOf(previous: number, leftMs: number, windowMs: number): number {
  const window = BigInt(windowMs);
  return Number((BigInt(previous) * BigInt(leftMs) + window - 1n) / window);
}

/** The most that `previous` may be to weigh no more than `room`; -1 where even zero is too much. */
export function previousMax(room: number, leftMs: number, windowMs: number): number {
  if (room < 0) return -1;
  return Math.min(Number((BigInt(room) * BigInt(windowMs)) / BigInt(leftMs)), Number.MAX_SAFE_INTEGER);
}

/** Milliseconds until `need` fits if nobody else takes anything; 0 where it fits now. `need` is at most `limit`. */
export function waitUntilFitsMs(
  { current, previous }: WindowCount,
  need: number,
  limit: number,
  leftMs: number,
  windowMs: number,
): number {
  const room = limit - need - current;
  if (room >= 0) return untilWeighsMs(previous, room, leftMs, windowMs);
  // Not within this window: the next one begins with all of it as its previous.
  return leftMs + untilWeighsMs(current, limit - need, windowMs, windowMs);
}

function untilWeighsMs(previous: number, room: number, leftMs: number, windowMs: number): number {
  if (weightOf(previous, leftMs, windowMs) <= room) return 0;
  return leftMs - Number((BigInt(room) * BigInt(windowMs)) / BigInt(previous));
}
