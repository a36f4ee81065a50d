// Reports of many calls, one at a time in a process: several at once would take the store from the calls of clients.

export function inTurn<Asked extends unknown[], Report>(make: (...asked: Asked) => Promise<Report>) {
  let last: Promise<unknown> = Promise.resolve();
  return (...asked: Asked): Promise<Report> => {
    const report = last.then(() => make(...asked));
    last = report.catch(() => undefined);
    return report;
  };
}
