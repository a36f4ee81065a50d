// Reserves the memory of a provider's whole answer, from its first byte until it is handed on.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';

/** The text as it came, the one with the gateway's own fields, and its bytes for the client. */
const relayedForms = 3;
/** Copies beside them: the text that a package reads, its parsed values, and the translated answer. */
const translatedForms = 6;
/** Copies of an event: its bytes, its text, and the client's event. */
const formsOfEvent = 3;
/** Bytes that the socket of a stream may read at once, which are not counted. */
const pieceMaxBytes = 128 * 1024;
/** Reserved as they arrive. More is reserved ahead, so that a long answer waits once and not with each piece. */
const smallAnswerBytes = 16 * 1024;

/** There was no memory for the rest of an answer. */
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

/** Its provider has made it, so it is charged. */
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
   * The same bytes of a stream: those of an event are kept until it is complete and was passed on. Rejects with
   * AnswerNotKept.
   */
  assembling(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  eventCame(): void;
  /** Keeps this many bytes from the beginning of a stream, earlier ones included. Rejects with AnswerNotKept. */
  hold(bytes: number): Promise<void>;
  /** Releases all but the given bytes, or everything: for an answer that is not sent, or has been. */
  release(bytesInUse?: number): void;
}

export function openAnswerMemory(memory: CallMemory, isTranslated = false): AnswerMemory {
  const forms = isTranslated ? translatedForms : relayedForms;
  const part = memory.openPart();
  let reservedBytes = 0;

  async function grow(bytes: number, cameBytes: number): Promise<void> {
    const added = bytes - reservedBytes;
    if (added <= 0) return;
    await keptOrRefused(part.reserve(added), cameBytes);
    reservedBytes = bytes;
  }

  const eventPart = memory.openPart();
  let eventBytes = 0;
  let eventReservedBytes = 0;
  let isEventWhole = false;

  /** The reader asks for more when it has handed on the event that was whole. */
  function beginEvent(): void {
    isEventWhole = false;
    eventBytes = 0;
    eventReservedBytes = 0;
    eventPart.keepOnly(0);
  }

  async function assemble(pieces: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
    if (isEventWhole) beginEvent();
    const read = await pieces.next();
    if (read.done === true) return read;
    eventBytes += read.value.length;
    if (eventBytes <= pieceMaxBytes || eventBytes * formsOfEvent <= eventReservedBytes) return read;
    const addedBytes = 2 * eventBytes * formsOfEvent - eventReservedBytes;
    await keptOrRefused(eventPart.reserve(addedBytes), eventBytes);
    eventReservedBytes += addedBytes;
    return read;
  }

  return {
    assembling(body) {
      const pieces = body[Symbol.asyncIterator]();
      // Without `return`, so that the rest is drained, not closed.
      return { [Symbol.asyncIterator]: () => ({ next: () => assemble(pieces) }) };
    },
    eventCame() {
      isEventWhole = true;
    },
    reserving(body, declaredBytes) {
      const pieces = body[Symbol.asyncIterator]();
      let cameBytes = 0;
      async function next(): Promise<IteratorResult<Uint8Array>> {
        const read = await pieces.next();
        if (read.done === true) return read;
        cameBytes += read.value.length;
        const expected = cameBytes <= smallAnswerBytes ? cameBytes : Math.max(cameBytes * 2, declaredBytes);
        if (cameBytes * forms > reservedBytes) await grow(expected * forms, cameBytes);
        return read;
      }
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    hold: (bytes) => grow(bytes, bytes),
    release(bytesInUse = 0) {
      reservedBytes = Math.min(reservedBytes, bytesInUse);
      part.keepOnly(bytesInUse);
    },
  };
}

async function keptOrRefused(reserving: Promise<void> | undefined, cameBytes: number): Promise<void> {
  try {
    await reserving;
  } catch (error) {
    throw error instanceof GatewayError ? new AnswerNotKept(cameBytes, error) : error;
  }
}
