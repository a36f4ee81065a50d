// Reports of many calls, one at a time in a process: several at once would take the store from the calls of clients.
import type { Work } from './manage.ts';

export function inTurn(work: Work): Work {
  let last: Promise<unknown> = Promise.resolve();
  return (deps, request) => {
    const report = last.then(() => work(deps, request));
    last = report.catch(() => undefined);
    return report;
  };
}
