/** Many calls may wait for one slot, and every try costs a write: none tries more often than this. */
const tryIntervalMinMs = 50;

/**
 * How long a limited call waits before it asks again: until the slot is free. Undefined where that would be after its
 * `queueMs` (of which it has spent `queuedMs`), or would leave nothing of its budget (`remainingMs`) for the provider.
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
