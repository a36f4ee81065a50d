export {
  amountAtLeast,
  type Counter,
  type HeldAmount,
  type Hold,
  type ItemAddress,
  readAmount,
  readAvailable,
  readHeldAmounts,
  readSlotsInUse,
} from './counter.ts';
export { type Counters, createCounters } from './counters.ts';
export type { ItemWriter, SettlementOptions } from './item-writer.ts';
export type { KeyAdmission, KeyCount, KeyHold, KeyRequest, PaidKeyRequest } from './key-admission.ts';
export { concurrencyOf, hasOwnLimits } from './key-admission.ts';
export { keyAttributes, keySlots, readKeySpending } from './key-limits.ts';
export {
  currentSecret,
  formerSecrets,
  isSecretActive,
  type KeySecret,
  secretOf,
  storedSecrets,
} from './key-secrets.ts';
export type { SettlementOutcome } from './requests.ts';
export type { UpdateDraft } from './update-draft.ts';
export { readWindowUse, requestsPerMinute, tokensPerDay, tokensPerMinute, type Window } from './windows.ts';
