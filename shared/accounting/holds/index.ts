export {
  type Counter,
  type Hold,
  lateSettlementMs,
  readAmount,
  readAvailable,
  readHolds,
} from './counter.ts';
export { settleParts, takeParts } from './hold-parts.ts';
export {
  type KeyAdmissionRequest,
  settleKeyHold,
  takeKeyAdmission,
} from './key-admission.ts';
export { keyCounter, readKeyLimits } from './key-counter.ts';
export type { KeyAdmission, KeyHold } from './plan-key-admission.ts';
export { planTake } from './plan-take.ts';
export { planCount } from './rate-window.ts';
export { healParts } from './reclaim-parts.ts';
export { type SettleResult, settleHold } from './settle-hold.ts';
export { contended, takeHold } from './take-hold.ts';
export { toUpdate, type WriteParts } from './write-parts.ts';
