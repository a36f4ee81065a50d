import type { Watch } from '../../../shared/routing/providers/index.ts';

export interface TimedBytes extends AsyncIterable<Uint8Array> {
  /** The reader waits for bytes right now. Some readers ask for the next ones before they have used the last. */
  readonly isAwaited: () => boolean;
}

/**
 * The bytes of a stream, of which none may be longer away than the limit. While its reader is busy the provider is not silent,
 * however long that takes. `idleTimeoutMs`: undefined until the first output, which has a limit of its own.
 */
export function timeBytes(
  body: AsyncIterable<Uint8Array>,
  watch: Watch,
  idleTimeoutMs: () => number | undefined,
): TimedBytes {
  const bytes = body[Symbol.asyncIterator]();
  let isAwaited = false;
  async function next(): Promise<IteratorResult<Uint8Array>> {
    const limitMs = idleTimeoutMs();
    if (limitMs !== undefined) watch.expect('idle', limitMs);
    isAwaited = true;
    const read = await bytes.next();
    isAwaited = false;
    // The first output may have come in the meantime.
    if (idleTimeoutMs() !== undefined) watch.pause();
    return read;
  }
  // Without `return`: what is left is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }), isAwaited: () => isAwaited };
}
