export {
  type Counter,
  type HeldAmount,
  type Hold,
  readAmount,
  readAvailable,
  readHeld,
} from './counter.ts';
export { type Counters, createCounters, type SettleResult } from './counters.ts';
export { type ItemWriter, queueWaitMaxMs } from './item-writer.ts';
export type { KeyAdmission, KeyAdmissionRequest, KeyHold } from './key-admission.ts';
export { carriedSpending, readKeySpending } from './key-limits.ts';
export { settlementRetryMs } from './settle-once.ts';
export { UpdateDraft } from './update-draft.ts';
export { requestsPerMinute, tokensPerDay, tokensPerMinute, type Window } from './windows.ts';
