// Work that many callers want at the same time: one run at a time, and what is asked for while it is under way gathers
// and goes together in the next. A request that is alone waits for no other.
import { nextTurn } from '../../foundation/time/index.ts';

/**
 * Returns how to ask for a request. `run` never rejects, and answers its requests itself; those that it returns are the
 * first of the next run.
 */
export function gatherRuns<Request>(
  run: (gathered: readonly Request[]) => Promise<readonly Request[]>,
): (request: Request) => void {
  let waiting: Request[] = [];
  let isRunning = false;

  async function serve(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const gathered = waiting;
      waiting = [];
      const left = await run(gathered);
      if (left.length > 0) waiting = [...left, ...waiting];
      // Others of the same turn of the event loop may still come.
      if (waiting.length > 0) await nextTurn();
    }
    isRunning = false;
  }

  return (request) => {
    waiting.push(request);
    if (!isRunning) void serve();
  };
}

/** The same for runs with one result: every caller gets that of the run that its request went into. */
export function shareRuns<Request, Result>(
  run: (requests: readonly Request[]) => Promise<Result>,
): (request: Request) => Promise<Result> {
  const ask = gatherRuns<{ readonly request: Request; readonly resolve: (result: Promise<Result>) => void }>(
    (gathered) => {
      const result = run(gathered.map(({ request }) => request));
      for (const { resolve } of gathered) resolve(result);
      return result.then(nothingLeft, nothingLeft);
    },
  );
  return (request) => {
    const { promise, resolve } = Promise.withResolvers<Result>();
    ask({ request, resolve });
    return promise;
  };
}

const nothingLeft = (): [] => [];
