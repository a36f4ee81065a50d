import type { Watch } from '../../../shared/routing/providers/index.ts';

/**
 * The bytes of a stream, of which none may be longer away than the limit. While its reader is busy the provider is not silent,
 * however long that takes. `idleTimeoutMs`: undefined until the first output, which has a limit of its own.
 */
export function timeBytes(
  body: AsyncIterable<Uint8Array>,
  watch: Watch,
  idleTimeoutMs: () => number | undefined,
): AsyncIterable<Uint8Array> {
  const bytes = body[Symbol.asyncIterator]();
  async function next(): Promise<IteratorResult<Uint8Array>> {
    const limitMs = idleTimeoutMs();
    if (limitMs === undefined) return bytes.next();
    watch.expect('idle', limitMs);
    const read = await bytes.next();
    watch.pause();
    return read;
  }
  // Without `return`: what is left is drained, not closed.
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
