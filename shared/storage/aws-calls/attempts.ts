// How often a call to AWS is sent, and when it is given up. The store and every other service end here.
import type { Randomness } from '../../foundation/ids/index.ts';
import { ConnectionBroken } from '../../foundation/outgoing/index.ts';
import { type Clock, sleep } from '../../foundation/time/index.ts';
import { AwsCallFailed } from './aws-call-failed.ts';

/** A socket that died while a function slept, and one more: load on a throttled service must not grow much. */
const attemptsMax = 3;
/** Before the second try 0 to 20 ms, before the third 0 to 40 ms: a call takes 5 to 10 ms. */
const backoffBaseMs = 20;

/** 'repeatable' calls do no harm when they run twice: every read, and writes that say so. */
export type CallKind = 'repeatable' | 'once';

export interface AttemptOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** For all tries together. */
  readonly limitMs: number;
  readonly kind: CallKind;
  readonly callerSignal: AbortSignal | undefined;
}

/**
 * Calls until an answer, an error that forbids another try, `attemptsMax`, or the end of `limitMs`. Rejects with the last
 * error, or with the reason of the signal that ended it.
 */
export async function callWithAttempts<Value>(
  { clock, randomness, limitMs, kind, callerSignal }: AttemptOptions,
  call: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  callerSignal?.throwIfAborted();
  const timeout = new AbortController();
  const stopTimer = clock.after(limitMs, () => timeout.abort(new Error(`no answer within ${limitMs} ms`)));
  const signal = callerSignal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, callerSignal]);
  const attempts = async (): Promise<Value> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call(signal);
      } catch (error) {
        if (attempt === attemptsMax || signal.aborted || !maySendAgain(error, kind)) throw error;
      }
      await sleep(clock, randomness.fraction() * backoffBaseMs * 2 ** (attempt - 1), signal);
      signal.throwIfAborted();
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

/** Whether the same call may be sent once more after this error. */
export function maySendAgain(error: unknown, kind: CallKind): boolean {
  if (error instanceof ConnectionBroken) return kind === 'repeatable' || !error.mayHaveArrived;
  if (!(error instanceof AwsCallFailed)) return false;
  return wasThrottled(error) || (kind === 'repeatable' && error.status >= 500);
}

const throttlingCodes = new Set([
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
]);

/** Throttled calls are turned away before they are run. A 500 or 503 without such a code proves nothing of the kind. */
const wasThrottled = ({ status, code }: AwsCallFailed): boolean => status === 429 || throttlingCodes.has(code);
