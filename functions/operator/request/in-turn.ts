// Runs reports of many calls one at a time in a process, because several at once would slow the store down for the
// calls of clients.

export function inTurn<Inputs extends unknown[], Report>(make: (...inputs: Inputs) => Promise<Report>) {
  let last: Promise<unknown> = Promise.resolve();
  return (...inputs: Inputs): Promise<Report> => {
    const report = last.then(() => make(...inputs));
    last = report.catch(() => undefined);
    return report;
  };
}
