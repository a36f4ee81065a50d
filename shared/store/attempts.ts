// How often a call to the store is sent, and when it is given up. The SDK's own retries are off: they would repeat a
// conditional write whose first try was done and whose answer was lost, and the write would then be refused by itself.

import type { Randomness } from '../ids/index.ts';
import { storeCallTimeoutMs } from '../names/index.ts';
import { type Clock, sleep } from '../time/index.ts';

/** More than three tries cannot help within 800 ms, and load on a throttled store must not grow much. */
const attemptsMax = 3;
/** Before the second try 0 to 20 ms, before the third 0 to 40 ms: a call takes about 5 ms. */
const backoffBaseMs = 20;

/** 'repeatable' calls do no harm when they run twice: every read, and writes that say so. */
export type CallKind = 'repeatable' | 'once';

export interface AttemptContext {
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/**
 * Calls until an answer, an error that forbids another try, `attemptsMax`, or the end of `storeCallTimeoutMs`, which
 * covers all tries together. Rejects with the last error, or with the reason of the signal that ended it.
 */
export async function callWithAttempts<T>(
  { clock, randomness }: AttemptContext,
  kind: CallKind,
  callerSignal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  callerSignal?.throwIfAborted();
  const timeout = new AbortController();
  const stopTimer = clock.after(storeCallTimeoutMs, () => {
    timeout.abort(new Error(`no answer within ${storeCallTimeoutMs} ms`));
  });
  const signal = callerSignal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, callerSignal]);
  const attempts = async (): Promise<T> => {
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
    // The SDK heeds the signal only once it has credentials and a socket; the race bounds those steps too.
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
  if (wasRefusedUnexecuted(error) || neverReachedTheStore(error)) return true;
  return kind === 'repeatable' && isPassing(error);
}

const throttlingNames = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]);

/** Throttled requests are turned away before they are run. A 500 or 503 proves nothing of the kind. */
const wasRefusedUnexecuted = (error: unknown): boolean => throttlingNames.has(textOf(error, 'name'));

/**
 * No connection, so no byte of the request was sent. ECONNRESET or EPIPE are no such proof, not even on an idle socket
 * that the other side had closed: the request may have been read before.
 */
function neverReachedTheStore(error: unknown): boolean {
  // One error per address of the host, when it has several.
  const perAddress = (error as { errors?: unknown } | null | undefined)?.errors;
  if (Array.isArray(perAddress) && perAddress.length > 0) return perAddress.every(neverReachedTheStore);
  const systemCall = textOf(error, 'syscall');
  if (systemCall === 'connect' || systemCall === 'getaddrinfo') return true;
  return textOf(error, 'name') === 'TimeoutError' && textOf(error, 'message').includes(connectionTimeoutWords);
}

/** The SDK tells its connection timeout from its other timeouts by these words alone. */
const connectionTimeoutWords = 'did not establish a connection';

const connectionErrorCodes = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/** Errors of the moment: the store's own failures, and connections that broke. */
function isPassing(error: unknown): boolean {
  if (textOf(error, 'name') === 'TimeoutError' || connectionErrorCodes.has(textOf(error, 'code'))) return true;
  return (statusOf(error) ?? 0) >= 500;
}

const textOf = (error: unknown, member: 'name' | 'code' | 'syscall' | 'message'): string => {
  const value = (error as Partial<Record<typeof member, unknown>> | null | undefined)?.[member];
  return typeof value === 'string' ? value : '';
};

const statusOf = (error: unknown): number | undefined =>
  (error as { $metadata?: { httpStatusCode?: number } } | null | undefined)?.$metadata?.httpStatusCode;
