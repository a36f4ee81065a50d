// Walks over a file of audio.
import { inOneTurn } from '../../../foundation/time/index.ts';

/** A length in seconds. */
interface Played {
  /** Seconds that its frames, packets or PCM data play. */
  readonly walked: number;
  /** Seconds that the file itself states. */
  readonly head: number | undefined;
}

/**
 * A walk that lets other work run at each yield. It returns undefined if the file cannot be walked, and throws if
 * it ends too early.
 */
export type Walk = Generator<void, Played | undefined>;

/** Number of steps, of a microsecond at most, between two turns. */
export const stepsPerTurn = 32 * 1024;

/** Counts how often a word that does not overlap itself is in a file, up to a number. */
export function* occurrencesOf(
  word: Buffer,
  bytes: Buffer,
  countMax = Number.POSITIVE_INFINITY,
): Generator<void, number> {
  let count = 0;
  for (let from = 0; from < bytes.length && count < countMax; from += inOneTurn.passedBytes) {
    const piece = bytes.subarray(from, from + inOneTurn.passedBytes + word.length - 1);
    for (let at = piece.indexOf(word); at >= 0 && count < countMax; at = piece.indexOf(word, at + word.length))
      count += 1;
    yield;
  }
  return count;
}
