export {
  type ByokConnection,
  type ByokFacts,
  checkByokHeader,
  mayBringKey,
  payerOf,
  readByokFacts,
} from './byok.ts';
export { looseningMember, satisfies, tighten } from './data-policy.ts';
export { hasSeveralKeepers } from './keepers.ts';
export type { CandidateStats } from './order.ts';
export { makePlan, type Plan, type PlanFacts } from './plan.ts';
export { isBillable, totalPrice } from './prices.ts';
export { entryOf, estimateTokens, limitsOf } from './provider-limits.ts';
export { failUnknownModel } from './unknown-model.ts';
