export { type Clock, sleep, systemClock } from './clock.ts';
export { type Deadline, startDeadline } from './deadline.ts';
