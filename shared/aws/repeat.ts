// How often a call to AWS is sent, and when it is given up. Every call of this room may be sent again: reading, wrapping
// and writing the same bytes under the same key do no harm twice.
import type { Randomness } from '../ids/index.ts';
import { type Clock, sleep } from '../time/index.ts';
import { AwsCallFailed } from './aws-call-failed.ts';
import { ConnectionBroken } from './http-exchange.ts';

/** A socket that died while a function slept, and one more. Beyond that the trouble is not of a moment. */
const attemptsMax = 3;
/** Before the second try 0 to 20 ms, before the third 0 to 40 ms: a call takes about 10 ms. */
const backoffBaseMs = 20;

export interface RepeatOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** For all tries together. */
  readonly limitMs: number;
  readonly callerSignal: AbortSignal | undefined;
}

/** Rejects with the last error, or with the reason of the signal that ended it. */
export async function repeat<Value>(
  { clock, randomness, limitMs, callerSignal }: RepeatOptions,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const timeout = new AbortController();
  const stopTimer = clock.after(limitMs, () => timeout.abort(new Error(`no answer within ${limitMs} ms`)));
  const signal = callerSignal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, callerSignal]);
  const attempts = async (): Promise<Value> => {
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      try {
        return await call(signal);
      } catch (error) {
        if (attempt === attemptsMax || !isPassing(error)) throw error;
      }
      await sleep(clock, randomness.fraction() * backoffBaseMs * 2 ** (attempt - 1), signal);
    }
  };
  try {
    // The race bounds what heeds no signal too: credentials that do not come.
    return await Promise.race([attempts(), rejectionOf(signal)]);
  } finally {
    stopTimer();
  }
}

const rejectionOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

const throttlingCodes = new Set(['ThrottlingException', 'Throttling', 'SlowDown', 'RequestLimitExceeded']);

/** Whether the same call may do better a moment later. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof AwsCallFailed)) return error instanceof ConnectionBroken;
  return error.status >= 500 || error.status === 429 || throttlingCodes.has(error.code);
}
