// A walk over a file of audio.

/** Seconds. */
interface Played {
  /** By what its frames, packets or PCM data play. */
  readonly walked: number;
  /** By what the file says of itself. */
  readonly head: number | undefined;
}

/** Others have their turn at each yield. Undefined where the file cannot be walked; throws where it ends too early. */
export type Walk = Generator<void, Played | undefined>;

/** Steps of a microsecond at most. */
export const stepsPerTurn = 32 * 1024;

/** Searched in some milliseconds, whatever is in it. */
const pieceBytes = 512 * 1024;

/** How often a word that does not overlap itself is in a file, counted up to a number. */
export function* occurrencesOf(
  word: Buffer,
  bytes: Buffer,
  countMax = Number.POSITIVE_INFINITY,
): Generator<void, number> {
  let count = 0;
  for (let from = 0; from < bytes.length && count < countMax; from += pieceBytes) {
    const piece = bytes.subarray(from, from + pieceBytes + word.length - 1);
    for (let at = piece.indexOf(word); at >= 0 && count < countMax; at = piece.indexOf(word, at + word.length))
      count += 1;
    yield;
  }
  return count;
}
