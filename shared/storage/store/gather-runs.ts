// Work that many callers want at the same time: one run at a time, and what is asked for while it is under way gathers
// and goes together in the next. A request that is alone waits for no other, unless its caller waits for nothing and the
// process is busy.
import { type Clock, nextTurn } from '../../foundation/time/index.ts';

/** How long requests wait that are not awaited: one that is awaited takes them along. */
export interface Gathering {
  readonly clock: Pick<Clock, 'after'>;
  /** 0: not at all. Asked for each of them. */
  readonly gatherMs: () => number;
}

/** `isAwaited` default true. */
export type AskForRun<Request> = (request: Request, isAwaited?: boolean) => void;

/**
 * Returns how to ask for a request. `run` never rejects, and answers its requests itself; those that it returns are the
 * first of the next run.
 */
export function gatherRuns<Request>(
  run: (gathered: readonly Request[]) => Promise<readonly Request[]>,
  gathering?: Gathering,
): AskForRun<Request> {
  let waiting: Request[] = [];
  let isRunning = false;
  /** Of those that wait. */
  let isOneAwaited = false;
  let cancelTimer: (() => void) | undefined;

  /** 0: those that wait are served now. */
  const delayMs = (): number => (isOneAwaited ? 0 : (gathering?.gatherMs() ?? 0));

  async function serve(): Promise<void> {
    isRunning = true;
    cancelTimer?.();
    cancelTimer = undefined;
    do {
      const gathered = waiting;
      waiting = [];
      isOneAwaited = false;
      const left = await run(gathered);
      if (left.length > 0) {
        waiting = [...left, ...waiting];
        isOneAwaited = true;
      }
      // Others of the same turn of the event loop may still come.
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

/** The same for runs with one result: every caller gets that of the run that its request went into. */
export function shareRuns<Request, Result>(
  run: (requests: readonly Request[]) => Promise<Result>,
  gathering?: Gathering,
): (request: Request) => Promise<Result> {
  const ask = gatherRuns<{ readonly request: Request; readonly resolve: (result: Promise<Result>) => void }>(
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
