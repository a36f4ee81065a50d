// The time that the store has before a provider is called (contract 6): 2 seconds, all rounds of a call together.
import { admissionTimeoutMs } from '../../foundation/constants/index.ts';
import { type Clock, startAnswerTime } from '../../foundation/time/index.ts';
import { StoreUnavailable } from './store.ts';

export interface StoreTime {
  /** What the promise brings, or StoreUnavailable once the time is used up by this wait and those before it. */
  wait<Value>(promise: Promise<Value>): Promise<Value>;
}

export function startStoreTime(clock: Clock): StoreTime {
  const answerTime = startAnswerTime(clock, admissionTimeoutMs);
  return { wait: (promise) => answerTime.wait(promise, tookTooLong) };
}

const tookTooLong = (): Error => new StoreUnavailable(new Error('admission took too long'));
