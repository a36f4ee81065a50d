// Runs several calls of a provider that make one answer, a few at a time.
import { mapParallel } from '../../../foundation/parallel/index.ts';
import type { AttemptFailure, NoAnswer, Pause } from '../../providers/index.ts';

/** Maximum concurrent calls of the provider. */
const concurrentPartsMax = 4;

interface RunParts<Part> {
  /** Parts by their number; undefined for one that failed, or was not begun. */
  readonly done: readonly (Part | undefined)[];
  /** The first failure. No part is begun after it, and running ones are awaited, because their usage is charged. */
  readonly failure: AttemptFailure | undefined;
  /** Set if the connection of a part broke, or was ended. */
  readonly broken: { readonly error: unknown } | undefined;
}

/** Maximum number of tries of a rate-limited part: otherwise the cost of the others would be lost. */
const triesMax = 3;
/** Pause if its provider names no time. */
const pauseSeconds = 1;

/** Runs the parts. `paidPart` stands for an answer that its provider finished, and that cannot be passed on. */
export async function runParts<Input, Part extends { readonly kind: 'part' }>(
  parts: readonly Input[],
  run: (input: Input) => Promise<Part | NoAnswer>,
  paidPart: (input: Input) => Part,
  pause: Pause,
): Promise<RunParts<Part>> {
  let failure: AttemptFailure | undefined;
  let broken: RunParts<Part>['broken'];
  const done = await mapParallel(parts, concurrentPartsMax, async (input): Promise<Part | undefined> => {
    if (failure !== undefined) return undefined;
    const ended = await runUnlimited(
      () => run(input),
      pause,
      () => failure === undefined,
    ).catch((error: unknown): NoAnswer => {
      broken ??= { error };
      return { kind: 'failure', failure: { kind: 'failed', cause: 'part_broken' } };
    });
    if (ended.kind === 'part') return ended;
    failure ??= ended.failure;
    return ended.failure.refusedAnswer && paidPart(input);
  });
  return { done, failure, broken };
}

/** Retries a part while the provider limits it and no other part has failed. */
async function runUnlimited<Part extends { readonly kind: 'part' }>(
  run: () => Promise<Part | NoAnswer>,
  pause: Pause,
  goesOn: () => boolean,
): Promise<Part | NoAnswer> {
  for (let tries = 1; ; tries += 1) {
    const ended = await run();
    if (ended.kind === 'part' || ended.failure.kind !== 'rate_limited' || tries === triesMax) return ended;
    if (!(await pause(ended.failure.retryAfterSeconds ?? pauseSeconds)) || !goesOn()) return ended;
  }
}
