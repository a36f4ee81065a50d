export {
  amountAtLeast,
  type Counter,
  type HeldAmount,
  type Hold,
  readAmount,
  readAvailable,
  readHeld,
  readSlotsInUse,
} from './counter.ts';
export { type Counters, createCounters } from './counters.ts';
export { type ItemWriter, queueWaitMaxMs, type SettlementOptions } from './item-writer.ts';
export type { KeyAdmission, KeyCount, KeyHold, KeyRequest, PaidKeyRequest } from './key-admission.ts';
export { concurrencyOf, hasOwnLimits } from './key-admission.ts';
export {
  carriedSpending,
  keyAttributes,
  keySlots,
  readKeySpending,
  type SpendLimitReset,
  spendLimitResets,
  successorOf,
} from './key-limits.ts';
export { spendingItemOf } from './replaced-key.ts';
export type { SettlementOutcome } from './requests.ts';
export { settlementRetryMs } from './settle-once.ts';
export type { UpdateDraft } from './update-draft.ts';
export { readWindowUse, requestsPerMinute, tokensPerDay, tokensPerMinute, type Window } from './windows.ts';
