export {
  type Balance,
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
  type KeySettlement,
  settleKeyHold,
  takeKeyAdmission,
} from './key-admission.ts';
export { keyCounter, readKeyLimits } from './key-counter.ts';
export type { KeyAdmission, KeyHold } from './plan-key-admission.ts';
export { planTake, type TakePlan } from './plan-take.ts';
export { type CountPlan, planCount } from './rate-window.ts';
export { healParts } from './reclaim-parts.ts';
export { type SettleRequest, type SettleResult, settleHold } from './settle-hold.ts';
export { contended, type TakeRequest, type TakeResult, takeHold } from './take-hold.ts';
export { toUpdate, type WriteParts } from './write-parts.ts';
