export { type CallPageQuery, isCallPosition, readCallPage } from './call-page.ts';
export {
  type CallFilter,
  type CallOrder,
  callOrders,
  findCall,
  findCalls,
  matchesFilter,
} from './find-calls.ts';
export {
  type ConfiguredProvider,
  type ProviderHealth,
  type ProviderState,
  readProviderHealth,
} from './provider-state.ts';
export { readOverview } from './usage-overview.ts';
export { isTagGrouping, type UsageGrouping, usageGroupings } from './usage-shares.ts';
export { readUsage, summarizeUsage, type UsageSummary } from './usage-summary.ts';
