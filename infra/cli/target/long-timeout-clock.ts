// The clock of calls to a store that may be far away: from another continent a new connection alone takes what a whole
// call may take inside the region. The time limits of calls keep their order and are ten times as long.
import { type Clock, systemClock } from '../../../shared/foundation/time/index.ts';

const factor = 10;
/** Longer than the limit of any call. */
const commandMaxMs = 60_000;

export const longTimeoutClock: Clock = {
  nowMs: systemClock.nowMs,
  // A timer beyond the end of any command, such as the expiry of a data key, would only keep the process alive.
  after: (delayMs, callback) => (delayMs > commandMaxMs ? () => {} : systemClock.after(delayMs * factor, callback)),
};
