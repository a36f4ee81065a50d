// Reserves the memory of a provider's whole answer, from its first byte until it is handed on.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { CallMemory } from '../../../shared/protocol/memory-budget/index.ts';

/** The text as it came, the one with the gateway's own fields, and its bytes for the client. */
const formsOfAnswer = 3;
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
  /** Keeps so many bytes of the beginning of a stream, those from before included. Rejects with AnswerNotKept. */
  hold(bytes: number): Promise<void>;
  /** Releases all but so many bytes; left out, everything: of an answer that is not handed on, or has been. */
  release(keptBytes?: number): void;
}

export function openAnswerMemory(memory: CallMemory): AnswerMemory {
  let reservedBytes = 0;

  async function grow(bytes: number, cameBytes: number): Promise<void> {
    const added = bytes - reservedBytes;
    if (added <= 0) return;
    try {
      await memory.reserve(added);
    } catch (error) {
      throw error instanceof GatewayError ? new AnswerNotKept(cameBytes, error) : error;
    }
    reservedBytes = bytes;
  }

  return {
    reserving(body, declaredBytes) {
      const pieces = body[Symbol.asyncIterator]();
      let cameBytes = 0;
      async function next(): Promise<IteratorResult<Uint8Array>> {
        const read = await pieces.next();
        if (read.done === true) return read;
        cameBytes += read.value.length;
        const expected = cameBytes <= smallAnswerBytes ? cameBytes : Math.max(cameBytes * 2, declaredBytes);
        if (cameBytes * formsOfAnswer > reservedBytes) await grow(expected * formsOfAnswer, cameBytes);
        return read;
      }
      return { [Symbol.asyncIterator]: () => ({ next }) };
    },
    hold: (bytes) => grow(bytes, bytes),
    release(keptBytes = 0) {
      const released = Math.max(0, reservedBytes - keptBytes);
      memory.release(released);
      reservedBytes -= released;
    },
  };
}
