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
