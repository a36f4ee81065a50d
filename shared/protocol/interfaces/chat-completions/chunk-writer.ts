// Writes the chunks of a completion in their sequence, for a translated answer, for a whole answer, and for the end of
// a blocked answer.

interface ChoicePiece {
  readonly index: unknown;
  readonly delta: unknown;
  readonly finish_reason: unknown;
}

/**
 * Fields of a chunk in addition to the fields of its answer, which every chunk repeats. Values may be slices of JSON.
 */
export interface ChunkFields {
  readonly choices: readonly unknown[];
  readonly usage?: unknown;
}

/** `emit` adds the fields of the answer. `beside` are fields of every choice. */
export function openChunkWriter(emit: (chunk: ChunkFields) => void, beside: object = {}) {
  const piece = ({ index, delta, finish_reason }: ChoicePiece) => ({ index, delta, ...beside, finish_reason });
  return {
    /** Emits whole choices with their deltas. */
    addChoices: (choices: readonly unknown[]) => emit({ choices }),
    /** Emits the same delta for each choice. */
    add: (indices: readonly unknown[], delta: unknown) =>
      emit({ choices: indices.map((index) => piece({ index, delta, finish_reason: null })) }),
    /** Emits why each choice ended. */
    end: (ends: readonly (readonly [index: unknown, reason: unknown])[]) =>
      emit({ choices: ends.map(([index, reason]) => piece({ index, delta: {}, finish_reason: reason })) }),
    /** Emits the last chunk, if usage is reported. */
    usage: (usage: unknown) => emit({ choices: [], usage }),
  };
}
