// Repeats writes after the last byte of an answer (settlement, releases) while the store is unavailable. The client
// does not wait for these writes, and no other process makes them.
import { type Clock, type Deadline, sleep } from '../../foundation/time/index.ts';
import { StoreUnavailable } from './store.ts';
import { WriteRefused } from './write-refused.ts';

/**
 * Number of tries, with pauses of 50 to 800 ms. If store calls end within their 800 ms, all tries fit into the 10 s of
 * `finish`. A throttle may last longer.
 */
const triesDefault = 5;
const firstPauseMs = 50;

interface RetryWriteOptions {
  readonly triesMax?: number;
  /** Time after which no try begins; a running try is not waited for. */
  readonly deadline?: Deadline;
}

/** Retries a write that may be made twice. Throws the last StoreUnavailable, and any other error at once. */
export function retryWrite(
  clock: Clock,
  write: () => Promise<unknown>,
  { triesMax = triesDefault, deadline }: RetryWriteOptions = {},
): Promise<void> {
  const attempt = (tried: number): Promise<void> => {
    const again = (error: unknown) => {
      const pauseMs = firstPauseMs * 2 ** tried;
      const wouldBeLate = deadline !== undefined && deadline.remainingMs() <= pauseMs;
      if (!(error instanceof StoreUnavailable) || tried >= triesMax || wouldBeLate) throw error;
      return sleep(clock, pauseMs).then(() => attempt(tried + 1));
    };
    try {
      return write().then(() => {}, again);
    } catch (error) {
      return Promise.reject(error);
    }
  };
  return attempt(1);
}

// Writes by optimistic locking: reads, plans, writes if nothing was written in between, and repeats otherwise.

/**
 * Maximum tries. A try is refused only if another write was made, so up to this many writers at the same moment all
 * succeed. Gateways that start together apply the same file together; operators change different fields of one
 * document.
 */
const triesMax = 64;

/**
 * Writes by `tryOnce`, which reads again on each call and returns undefined if its write was refused. `what` begins the
 * message for the operator if other writes prevent every try: `the catalogue is`.
 */
export async function writeOptimistically<Value extends object | string>(
  what: string,
  tryOnce: () => Promise<Value | undefined>,
): Promise<Value> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    const written = await tryOnce();
    if (written !== undefined) return written;
  }
  throw new WriteRefused(`${what} being changed by another writer: do it again`);
}
