// Decides how often a call to AWS is sent, and when it is abandoned. The SDK sends each request once; this file decides
// about the next attempt.
import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type Clock, sleep, startTimeBudget } from '../../foundation/time/index.ts';
import { neverConnected } from '../store/index.ts';

/**
 * Maximum number of attempts: one retry for a socket that died while the process was frozen, and one more. Further
 * retries would add load to a service in trouble.
 */
const attemptsMax = 3;
/** Base of the pauses: 0 to 20 ms before the second attempt, 0 to 40 ms before the third; a call takes 5 to 10 ms. */
const backoffBaseMs = 20;
/**
 * Longest pause after a throttle. A table with provisioned capacity accepts the call when its capacity has grown or a
 * second has passed.
 */
const throttledPauseMaxMs = 400;
const throttledAttemptsMax = 16;

/**
 * Whether a call may run twice. Every read is repeatable, and so is a write that is marked as harmless when it runs
 * twice.
 */
export type CallKind = 'repeatable' | 'once';

export interface AttemptOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Time limit of all attempts together, except throttled attempts. */
  readonly limitMs: number;
  /** Time for which a throttled call is repeated. Default: a throttle is an error like any other. */
  readonly throttledMaxMs?: number;
  readonly kind: CallKind;
  readonly callerSignal?: AbortSignal | undefined;
}

/** Thrown when a batch was only partly written. DynamoDB accepts the rest later, like a call that it throttled. */
export class ItemsUnprocessed extends Error {
  override readonly name = 'ItemsUnprocessed';
}

/**
 * Repeats the call until an answer, an error that forbids another attempt, `attemptsMax`, or the end of `limitMs`.
 * Rejects with the last error, or with the reason of the signal that ended it.
 */
export async function callWithAttempts<Value>(
  options: AttemptOptions,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { clock, randomness, limitMs, throttledMaxMs, callerSignal } = options;
  if (throttledMaxMs === undefined) return callInTime(options, call);
  const endsAtMs = clock.nowMs() + throttledMaxMs;
  for (let attempt = 1; ; attempt += 1) {
    const leftMs = endsAtMs - clock.nowMs();
    try {
      return await callInTime({ ...options, limitMs: Math.min(limitMs, leftMs) }, call);
    } catch (error) {
      const pauseMs = randomness.fraction() * Math.min(throttledPauseMaxMs, backoffBaseMs * 2 ** (attempt - 1));
      const isOver = attempt === throttledAttemptsMax || clock.nowMs() + pauseMs >= endsAtMs;
      if (isOver || !wasThrottled(error)) throw error;
      await sleep(clock, pauseMs, callerSignal);
    }
  }
}

async function callInTime<Value>(
  { clock, randomness, limitMs, throttledMaxMs, kind, callerSignal }: AttemptOptions,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  callerSignal?.throwIfAborted();
  const timeout = new AbortController();
  const budget = startTimeBudget(clock, limitMs, () => {
    const error = new Error(`no answer within ${limitMs} ms`);
    timeout.abort(error);
    return error;
  });
  const signal = callerSignal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, callerSignal]);
  const attempts = async (): Promise<Value> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call(signal);
      } catch (error) {
        const isLast = attempt === attemptsMax || (throttledMaxMs !== undefined && wasThrottled(error));
        if (isLast || signal.aborted || !maySendAgain(error, kind)) throw withoutAnswerText(error);
      }
      await sleep(clock, randomness.fraction() * backoffBaseMs * 2 ** (attempt - 1), signal);
      signal.throwIfAborted();
    }
  };
  // Budget and signal also end work that ignores the signal, such as a wait for credentials.
  return budget.wait(callerSignal === undefined ? attempts() : Promise.race([attempts(), rejectionOf(signal)]));
}

const rejectionOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** True if the same call may be sent once more after this error. */
export function maySendAgain(error: unknown, kind: CallKind): boolean {
  if (!(error instanceof Error)) return false;
  const sdkError = error as Parameters<typeof isThrottlingError>[0];
  if (wasThrottled(error) || neverConnected(error)) return true;
  return kind === 'repeatable' && (isTransientError(sdkError) || isServerError(sdkError));
}

/** True for a throttled call, which was refused before it ran. */
const wasThrottled = (error: unknown): boolean =>
  error instanceof ItemsUnprocessed ||
  (error instanceof Error && isThrottlingError(error as Parameters<typeof isThrottlingError>[0]));

/** Hides the error of a JSON parser, which quotes its input, because answers contain keys and credentials. */
const withoutAnswerText = (error: unknown): unknown =>
  error instanceof SyntaxError ? new Error('the answer is not the JSON that was expected') : error;
