export { type Clock, sleep, systemClock, within } from './clock.ts';
export { type Deadline, startDeadline } from './deadline.ts';
