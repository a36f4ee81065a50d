export {
  type ByokConnection,
  type ByokFacts,
  type ByokHeaderFacts,
  type ByokKeys,
  type ByokSource,
  checkByokHeader,
  readByokFacts,
} from './byok.ts';
export { promptTextBytes } from './context-length.ts';
export { loosens, tighten } from './data-policy.ts';
export { hasMedia } from './features.ts';
export { type CandidateStats, type OrderFacts, orderCandidates } from './order.ts';
export { makePlan, type Plan, type PlanFacts } from './plan.ts';
export { isBillable, totalPrice } from './prices.ts';
