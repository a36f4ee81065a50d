export { countAnswerTime, startAnswerTime } from './answer-time.ts';
export { type Clock, startStopwatch, systemClock } from './clock.ts';
export { type Deadline, startDeadline } from './deadline.ts';
export { nextTurn, settledWithin, sleep, untilAborted, within } from './wait.ts';
