// Reserves the memory of a provider's whole answer, from its first byte until it is handed on.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';

/** The text as it came, the one with the gateway's own fields, and its bytes for the client. */
const relayedForms = 3;
/** Beside them the text that a package reads, the values that it makes, and what is made of those. */
const translatedForms = 6;
/** An event as it is put together, its text, and what its client gets of it. */
const formsOfEvent = 3;
/** What the socket of a stream may bring at once lies there anyway. */
const pieceMaxBytes = 128 * 1024;
/** Reserved as they come. More is reserved ahead, so that a long answer waits once and not with each piece. */
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

export interface AnswerMemory {
  /** The same bytes, each piece once there is memory for it. Rejects with AnswerNotKept. */
  reserving(body: AsyncIterable<Uint8Array>, declaredBytes: number): AsyncIterable<Uint8Array>;
  /** The same bytes of a stream: those of an event are kept until it is whole and was handed on. Rejects with AnswerNotKept. */
  assembling(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  eventCame(): void;
  /** Keeps so many bytes of the beginning of a stream, those from before included. Rejects with AnswerNotKept. */
  hold(bytes: number): Promise<void>;
  /** Releases all but so many bytes; left out, everything: of an answer that is not handed on, or has been. */
  release(keptBytes?: number): void;
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
      // Without `return`: what is left is drained, not closed.
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
    release(keptBytes = 0) {
      reservedBytes = Math.min(reservedBytes, keptBytes);
      part.keepOnly(keptBytes);
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
