export { type Clock, startStopwatch, systemClock } from './clock.ts';
export { type Deadline, startDeadline } from './deadline.ts';
export { createIdleTimer } from './idle-timer.ts';
export { startTimeBudget, type TimeBudget } from './time-budget.ts';
export { nextTurn, sleep, untilAborted, waitAtMost, waitsUntilAborted } from './wait.ts';
export { dayMs, readDuration } from './written-length.ts';
