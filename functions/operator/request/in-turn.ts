// Reports of many calls, one at a time in a process: several at once would take the store from the calls of clients.

export function inTurn<CheckedRequest extends unknown[], Report>(make: (...asked: CheckedRequest) => Promise<Report>) {
  let last: Promise<unknown> = Promise.resolve();
  return (...asked: CheckedRequest): Promise<Report> => {
    const report = last.then(() => make(...asked));
    last = report.catch(() => undefined);
    return report;
  };
}
