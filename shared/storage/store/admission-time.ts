// Limits the time that the store has before a provider is called, which is 2 seconds for all rounds of a call together.
import { admissionTimeoutMs } from '../../foundation/constants/index.ts';
import { type Clock, startTimeBudget, type TimeBudget } from '../../foundation/time/index.ts';
import { StoreUnavailable } from './store.ts';

/** Starts the budget, whose waits throw StoreUnavailable when it is used up. */
export const startAdmissionTime = (clock: Clock): TimeBudget => startTimeBudget(clock, admissionTimeoutMs, tookTooLong);

const tookTooLong = (): Error => new StoreUnavailable(new Error('admission took too long'));
