import type { LongValues } from '../index.ts';

/** Inputs that providers of this interface accept at once, and so the most vectors of an answer. */
export const inputsMax = 2_048;

export const vectors: LongValues = {
  memberName: '"embedding"',
  // Ten thousand numbers of a hundred digits each.
  valueMaxCharacters: 1024 * 1024,
  valuesMax: inputsMax,
};
