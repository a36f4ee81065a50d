// Runs the calls of a provider that make one answer together, a few at a time.
import { mapParallel } from '../../../foundation/parallel/index.ts';
import type { AttemptFailure, NoAnswer, Pause } from '../../providers/index.ts';

/** Maximum concurrent calls of the provider. */
const concurrentPartsMax = 4;

interface RunParts<Part> {
  /** Parts in the order of the inputs; undefined for a part that failed, or was not begun. */
  readonly parts: readonly (Part | undefined)[];
  /** The first failure. No part is begun after it, and running ones are awaited, because their usage is charged. */
  readonly failure: AttemptFailure | undefined;
  /** The first error that a part threw, for example because its connection broke. */
  readonly exception: { readonly error: unknown } | undefined;
}

/** Maximum number of tries of a rate-limited part, which is retried because the other parts are already paid for. */
const triesMax = 3;
/** Pause before a retry, if the provider names no time. */
const pauseSeconds = 1;

/** Runs the parts. `paidPart` makes the part for a finished answer that cannot be passed on. */
export async function runParts<Input, Part extends { readonly kind: 'part' }>(
  inputs: readonly Input[],
  run: (input: Input) => Promise<Part | NoAnswer>,
  paidPart: (input: Input) => Part,
  pause: Pause,
): Promise<RunParts<Part>> {
  let failure: AttemptFailure | undefined;
  let exception: RunParts<Part>['exception'];
  const results = await mapParallel(inputs, concurrentPartsMax, async (input): Promise<Part | undefined> => {
    if (failure !== undefined) return undefined;
    const outcome = await runUnlimited(
      () => run(input),
      pause,
      () => failure === undefined,
    ).catch((error: unknown): NoAnswer => {
      exception ??= { error };
      return { kind: 'failure', failure: { kind: 'failed', cause: 'part_broken' } };
    });
    if (outcome.kind === 'part') return outcome;
    failure ??= outcome.failure;
    return outcome.failure.unusedAnswer && paidPart(input);
  });
  return { parts: results, failure, exception };
}

/** Retries a part while the provider limits it and no other part has failed. */
async function runUnlimited<Part extends { readonly kind: 'part' }>(
  run: () => Promise<Part | NoAnswer>,
  pause: Pause,
  goesOn: () => boolean,
): Promise<Part | NoAnswer> {
  for (let tries = 1; ; tries += 1) {
    const outcome = await run();
    if (outcome.kind === 'part' || outcome.failure.kind !== 'rate_limited' || tries === triesMax) return outcome;
    if (!(await pause(outcome.failure.retryAfterSeconds ?? pauseSeconds)) || !goesOn()) return outcome;
  }
}
