// Reserves the memory of one answer within the memory of its call, by the parts of it that are in memory. A whole
// answer counts from its head until it is passed on, a stored answer counts from its head, and a stream counts with its
// buffered bytes.
import { GatewayError } from '../../errors/index.ts';
import { smallAnswerMaxBytes } from './answer-budget.ts';
import type { AnswerAllocation } from './memory-budget.ts';
import { type AnswerParts, type AnswerPath, answerBytes, providerSocketBytes, wholeAnswer } from './weights.ts';

/** An answer that does not declare its length takes memory in steps. */
const stepBytes = 1024 * 1024;
/** Smaller events are not counted, because at most one event per open stream is buffered. */
const countedEventMinBytes = 8 * 1024;

interface AnswerTaking {
  readonly signal?: AbortSignal | undefined;
  /** True if even a short answer waits. */
  readonly alwaysWaits?: boolean;
  /** Memory in addition to that of the parts. */
  readonly otherBytes?: number;
}

/**
 * Raises the allocation to the bytes that these parts need. Every answer takes its memory by this function. Returns
 * undefined if the memory is free at once, and always if no part is longer than 64 KiB. Rejects with
 * RATE_LIMITER_UNAVAILABLE.
 */
export function takeAnswer(
  allocation: Pick<AnswerAllocation, 'take'>,
  parts: AnswerParts,
  { signal, alwaysWaits = false, otherBytes = 0 }: AnswerTaking = {},
): Promise<void> | undefined {
  const mayWait = alwaysWaits || Object.values(parts).some((bytes) => bytes > smallAnswerMaxBytes);
  return allocation.take(answerBytes(parts) + otherBytes, { mayWait, signal });
}

/**
 * Runs work that loads these parts once there is memory for them. The parts are counted until the work has ended, even
 * if the call ends before. Work that cannot be stopped would otherwise fill memory that the next call gets.
 */
export async function loadAnswer<Value>(
  allocation: Pick<AnswerAllocation, 'take' | 'during'> | undefined,
  parts: AnswerParts,
  load: () => Promise<Value>,
): Promise<Value> {
  if (allocation === undefined) return await load();
  const waits = takeAnswer(allocation, parts);
  if (waits !== undefined) await waits;
  return await allocation.during(load);
}

/** Thrown when the wait for the memory of a provider's answer ends without it. */
export class AnswerNotKept extends Error {
  override readonly name = 'AnswerNotKept';
  readonly cameBytes: number;
  readonly refusal: GatewayError;
  constructor(cameBytes: number, refusal: GatewayError) {
    super('no memory for the answer', { cause: refusal });
    this.cameBytes = cameBytes;
    this.refusal = refusal;
  }
}

/** Memory of a provider's answer. */
export interface AnswerReservation {
  /** Yields the bytes unchanged, each piece once there is memory for it. Rejects with AnswerNotKept. */
  reserving(body: AsyncIterable<Uint8Array>, declaredBytes: number): AsyncIterable<Uint8Array>;
  /**
   * Yields the bytes of a stream unchanged; the bytes of an event are counted until it is complete and was passed on.
   * Rejects with AnswerNotKept.
   */
  assembling(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  eventCame(): void;
  /**
   * Reserves memory for this many bytes from the beginning of a stream, including earlier bytes. Rejects with
   * AnswerNotKept.
   */
  hold(bytes: number): Promise<void> | undefined;
  /** Releases all but these parts, or everything. Called for an answer that is not sent, or has been sent. */
  release(parts?: AnswerParts): void;
}

interface AnswerOptions {
  readonly path: AnswerPath;
  /** Aborts when the call no longer waits for its answer. */
  readonly signal: AbortSignal;
  /**
   * Aborts once the client has left. The answer then waits for memory like any other, and passes no other answer in the
   * queue.
   */
  readonly clientGone: AbortSignal;
  /** Upper bounds, in bytes, of the copies of a stream that are stored until its end; a longer stream is not copied. */
  readonly streamCopies: readonly number[];
}

export function openAnswerReservation(
  openAllocation: () => AnswerAllocation,
  options: AnswerOptions,
): AnswerReservation {
  const { path, signal, clientGone, streamCopies } = options;
  const allocation = openAllocation();
  const eventAllocation = openAllocation();

  /** Returns undefined if memory is free at once. */
  function take(
    from: AnswerAllocation,
    parts: AnswerParts,
    { cameBytes, otherBytes = 0 }: { readonly cameBytes: number; readonly otherBytes?: number },
  ): Promise<void> | undefined {
    const waits = takeAnswer(from, parts, { signal, alwaysWaits: clientGone.aborted, otherBytes });
    return waits?.catch((error: unknown) => {
      throw error instanceof GatewayError ? new AnswerNotKept(cameBytes, error) : error;
    });
  }

  let eventBytes = 0;
  let streamedBytes = 0;
  let isEventWhole = false;
  const copies = (): AnswerParts => ({
    text: streamCopies.reduce((sum, maxBytes) => sum + (streamedBytes > maxBytes ? 0 : streamedBytes), 0),
  });

  async function assemble(pieces: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    // The reader requests more when it has passed on the complete event.
    if (isEventWhole) {
      isEventWhole = false;
      eventBytes = 0;
      eventAllocation.keepOnly(answerBytes(copies()));
    }
    const read = await pieces.next();
    if (read.done === true) return read;
    eventBytes += read.value.length;
    streamedBytes += read.value.length;
    const isCounted = eventBytes >= countedEventMinBytes;
    if (!isCounted && streamCopies.length === 0) return read;
    const parts = { ...copies(), event: isCounted ? eventBytes : 0 };
    const otherBytes = isCounted ? providerSocketBytes : 0;
    const waits = take(eventAllocation, parts, { cameBytes: streamedBytes, otherBytes });
    if (waits !== undefined) await waits;
    return read;
  }

  return {
    assembling(body) {
      const pieces = body[Symbol.asyncIterator]();
      // The iterator has no `return`, so that the rest is drained, not closed.
      return { [Symbol.asyncIterator]: () => ({ next: () => assemble(pieces) }) };
    },
    eventCame() {
      isEventWhole = true;
    },
    reserving(body, declaredBytes) {
      const pieces = body[Symbol.asyncIterator]();
      let takenBytes = declaredBytes;
      let cameBytes = 0;
      const keep = (read: IteratorResult<Uint8Array>) => {
        if (read.done === true) return read;
        cameBytes += read.value.length;
        if (cameBytes <= takenBytes) return read;
        takenBytes = cameBytes <= smallAnswerMaxBytes ? cameBytes : Math.ceil(cameBytes / stepBytes) * stepBytes;
        return take(allocation, wholeAnswer(takenBytes, path), { cameBytes })?.then(() => read) ?? read;
      };
      const readPiece = () => pieces.next().then(keep);
      const begin = () => take(allocation, wholeAnswer(declaredBytes, path), { cameBytes: declaredBytes });
      const next = () => (cameBytes === 0 ? begin() : undefined)?.then(readPiece) ?? readPiece();
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    hold: (bytes) => take(allocation, wholeAnswer(bytes, path), { cameBytes: bytes }),
    release(parts = {}) {
      allocation.keepOnly(answerBytes(parts));
    },
  };
}
