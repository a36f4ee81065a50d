export { type Clock, dayMs, instantOf, readDuration, startStopwatch, systemClock } from './clock.ts';
export { createIdleTimer } from './idle-timer.ts';
export { type Deadline, startDeadline, startTimeBudget, type TimeBudget } from './time-budget.ts';
export {
  atTurnEnd,
  bytesInTurns,
  inOneTurn,
  nextTurn,
  sleep,
  untilAborted,
  waitAtMost,
  waitsUntilAborted,
} from './wait.ts';
