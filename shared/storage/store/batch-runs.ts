// Batches work. While one run is active, new requests wait and share the next run. A single request waits for no other,
// unless its caller does not wait and the process is busy.
import { type Clock, nextTurn } from '../../foundation/time/index.ts';

/** Delay of requests for which no caller waits. A request whose caller waits takes the delayed requests along. */
export interface BatchDelay {
  readonly clock: Pick<Clock, 'after'>;
  /** Returns the delay in milliseconds, 0 for none. Called for each request. */
  readonly gatherMs: () => number;
}

/** Adds a request. `isAwaited` is true by default. */
type AskForRun<Request> = (request: Request, isAwaited?: boolean) => void;

/**
 * Returns a function that adds a request. `run` never rejects, and answers its requests itself; the requests that it
 * returns are the first of the next run.
 */
export function batchRuns<Request>(
  run: (gathered: readonly Request[]) => Promise<readonly Request[]>,
  gathering?: BatchDelay,
): AskForRun<Request> {
  let waiting: Request[] = [];
  let isRunning = false;
  /** True if a caller waits for a queued request. */
  let isOneAwaited = false;
  let cancelTimer: (() => void) | undefined;

  /** Returns 0 if queued requests are served now. */
  const delayMs = (): number => (isOneAwaited ? 0 : (gathering?.gatherMs() ?? 0));

  async function serve(): Promise<void> {
    isRunning = true;
    cancelTimer?.();
    cancelTimer = undefined;
    do {
      const gathered = waiting;
      waiting = [];
      isOneAwaited = false;
      const remaining = await run(gathered);
      if (remaining.length > 0) {
        waiting = [...remaining, ...waiting];
        isOneAwaited = true;
      }
      // Other requests may still arrive in the same turn of the event loop.
      if (waiting.length > 0 && delayMs() === 0) await nextTurn();
    } while (waiting.length > 0 && delayMs() === 0);
    isRunning = false;
    if (waiting.length > 0) serveSoon();
  }

  function serveSoon(): void {
    const inMs = delayMs();
    if (inMs === 0) void serve();
    else cancelTimer ??= gathering?.clock.after(inMs, serve);
  }

  return (request, isAwaited = true) => {
    waiting.push(request);
    isOneAwaited ||= isAwaited;
    if (!isRunning) serveSoon();
  };
}

/** Returns a function for runs with one result. Every caller gets the result of the run that had its request. */
export function coalesceRuns<Request, Result>(
  run: (requests: readonly Request[]) => Promise<Result>,
  gathering?: BatchDelay,
): (request: Request) => Promise<Result> {
  const ask = batchRuns<{ readonly request: Request; readonly resolve: (result: Promise<Result>) => void }>(
    (gathered) => {
      const result = run(gathered.map(({ request }) => request));
      for (const { resolve } of gathered) resolve(result);
      return result.then(nothingLeft, nothingLeft);
    },
    gathering,
  );
  return (request) => {
    const { promise, resolve } = Promise.withResolvers<Result>();
    ask({ request, resolve }, gathering === undefined);
    return promise;
  };
}

const nothingLeft = (): [] => [];
