// An operator's line to the tables is longer than Lambda's: from another continent a new connection alone takes what a
// call may take there. The limits of every call keep their order and count tenfold.
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';

const patience = 10;
/** Longer than the limit of any call. */
const commandMaxMs = 60_000;

export const operatorClock: Clock = {
  nowMs: systemClock.nowMs,
  // What lies beyond the end of any command, such as the life of an opened data key, ends with the process.
  after: (delayMs, callback) => (delayMs > commandMaxMs ? () => {} : systemClock.after(delayMs * patience, callback)),
};
