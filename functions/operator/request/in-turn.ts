// Reports of many calls, one at a time in a process: several at once would take the store from the calls of clients.

export function inTurn<Inputs extends unknown[], Report>(make: (...inputs: Inputs) => Promise<Report>) {
  let last: Promise<unknown> = Promise.resolve();
  return (...inputs: Inputs): Promise<Report> => {
    const report = last.then(() => make(...inputs));
    last = report.catch(() => undefined);
    return report;
  };
}
