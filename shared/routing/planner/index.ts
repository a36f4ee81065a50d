export {
  type ByokConnection,
  type ByokSource,
  type ByokSources,
  checkByokHeader,
  mayBringKey,
  payerOf,
  readByokSources,
} from './byok.ts';
export { sessionOf } from './call-session.ts';
export { satisfies, tighten } from './data-policy.ts';
export { entryOf, estimateTokens, limitsOf, mostTokens } from './features.ts';
export { isBillable } from './order.ts';
export { makePlan, type Plan, type PlanInput } from './plan.ts';
export { failUnknownModel, findVisible, mayBeTranslated } from './visible-candidates.ts';
