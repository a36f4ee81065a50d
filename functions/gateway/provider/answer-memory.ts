// The memory of a provider's answer within the memory of its call: for a whole answer from its head until it is passed
// on, for a stream the part that is buffered.
import { GatewayError } from '../../../shared/errors/index.ts';
import {
  type AnswerAllocation,
  answerWeights,
  providerSocketBytes,
  smallAnswerMaxBytes,
} from '../../../shared/protocol/memory-budget/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';

/** An answer that does not declare its length takes memory in steps. */
const stepBytes = 1024 * 1024;
/** Smaller events are not counted: at most one event per open stream is buffered. */
const countedEventMinBytes = 8 * 1024;

/** Thrown when the wait for the memory of an answer ends without it. */
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

/** Returns the failure for an answer without memory. Its provider has produced it, so it is charged. */
export const unkeptAnswer = ({ cameBytes, refusal }: AnswerNotKept): AttemptFailure => ({
  kind: 'failed',
  cause: 'no_memory',
  isOurFault: true,
  refusal,
  refusedAnswer: { usage: undefined, outputBytes: cameBytes },
});

export interface AnswerMemory {
  /** Yields the bytes unchanged, each piece once there is memory for it. Rejects with AnswerNotKept. */
  reserving(body: AsyncIterable<Uint8Array>, declaredBytes: number): AsyncIterable<Uint8Array>;
  /**
   * Yields the bytes of a stream unchanged; the bytes of an event are counted until it is complete and was passed on.
   * Rejects with AnswerNotKept.
   */
  assembling(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  eventCame(): void;
  /**
   * Reserves memory for this many bytes from the beginning of a stream, earlier ones included. Rejects with
   * AnswerNotKept.
   */
  hold(bytes: number): Promise<void> | undefined;
  /** Releases all but the given bytes, or everything: called for an answer that is not sent, or has been. */
  release(bytesInUse?: number): void;
}

interface AnswerOptions {
  /** Bytes in memory for each byte of a complete answer. */
  readonly weight: number;
  /** Aborts when the call no longer waits for its answer. */
  readonly signal: AbortSignal;
  /**
   * Aborts once the client has left: then the answer waits for memory like any other, and passes no other answer in the
   * queue.
   */
  readonly clientGone: AbortSignal;
  /** Upper bounds, in bytes, of the copies of a stream that are stored until its end; a longer stream is not copied. */
  readonly streamCopies: readonly number[];
}

export function openAnswerMemory(openAllocation: () => AnswerAllocation, options: AnswerOptions): AnswerMemory {
  const { weight, signal, clientGone, streamCopies } = options;
  const allocation = openAllocation();
  const eventAllocation = openAllocation();

  /** Returns undefined where memory is free at once. */
  function take(from: AnswerAllocation, bytes: number, answerBytes: number): Promise<void> | undefined {
    const mayWait = answerBytes > smallAnswerMaxBytes || clientGone.aborted;
    return from.take(bytes, { mayWait, signal })?.catch((error: unknown) => {
      throw error instanceof GatewayError ? new AnswerNotKept(answerBytes, error) : error;
    });
  }

  let eventBytes = 0;
  let streamedBytes = 0;
  let isEventWhole = false;
  const copiesBytes = () =>
    streamCopies.reduce((sum, maxBytes) => sum + (streamedBytes > maxBytes ? 0 : streamedBytes), 0);

  async function assemble(pieces: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    // The reader asks for more when it has passed on the complete event.
    if (isEventWhole) {
      isEventWhole = false;
      eventBytes = 0;
      eventAllocation.keepOnly(copiesBytes());
    }
    const read = await pieces.next();
    if (read.done === true) return read;
    eventBytes += read.value.length;
    streamedBytes += read.value.length;
    const isCounted = eventBytes >= countedEventMinBytes;
    const inHand = isCounted ? answerWeights.event * eventBytes + providerSocketBytes : 0;
    const waits = take(
      eventAllocation,
      inHand + copiesBytes(),
      Math.max(eventBytes, streamCopies.length * streamedBytes),
    );
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
        return take(allocation, weight * takenBytes, cameBytes)?.then(() => read) ?? read;
      };
      const readPiece = () => pieces.next().then(keep);
      const next = () => {
        const waits = cameBytes === 0 ? take(allocation, weight * declaredBytes, declaredBytes) : undefined;
        return waits === undefined ? readPiece() : waits.then(readPiece);
      };
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    hold: (bytes) => take(allocation, weight * bytes, bytes),
    release(bytesInUse = 0) {
      allocation.keepOnly(bytesInUse);
    },
  };
}
