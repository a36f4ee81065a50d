export {
  type ByokConnection,
  type ByokSources,
  checkByokHeader,
  mayBringKey,
  payerOf,
  readByokSources,
} from './byok.ts';
export { looseningMember, satisfies, tighten } from './data-policy.ts';
export { hasSeveralKeepers } from './keepers.ts';
export type { CandidateStats } from './order.ts';
export { makePlan, type Plan, type PlanInput } from './plan.ts';
export { isBillable, totalPrice } from './prices.ts';
export { entryOf, estimateTokens, limitsOf } from './provider-limits.ts';
export { failUnknownModel } from './unknown-model.ts';
