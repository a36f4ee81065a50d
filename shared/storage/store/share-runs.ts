// Work that many callers want at the same time: one run at a time, and what is asked for while it is under way goes
// together in the next. A caller that is alone waits for no other.
import { nextTurn } from '../../foundation/time/index.ts';

/** Every caller gets the result of the run that its request went into. */
export function shareRuns<Request, Result>(
  run: (requests: readonly Request[]) => Promise<Result>,
): (request: Request) => Promise<Result> {
  let waiting: Request[] = [];
  let next: PromiseWithResolvers<Result> | undefined;
  let isRunning = false;

  function start(): Promise<Result> {
    const requests = waiting;
    waiting = [];
    isRunning = true;
    const result = run(requests);
    result.then(startNext, startNext);
    return result;
  }

  async function startNext(): Promise<void> {
    // Others of the same turn of the event loop may still come.
    if (next !== undefined) await nextTurn();
    isRunning = false;
    const waited = next;
    next = undefined;
    waited?.resolve(start());
  }

  return (request) => {
    waiting.push(request);
    if (!isRunning) return start();
    next ??= Promise.withResolvers<Result>();
    return next.promise;
  };
}
