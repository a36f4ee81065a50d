export { type CallFilter, matchesFilter } from './call-filter.ts';
export { type CallPageQuery, isCallPosition, readCallPage } from './call-page.ts';
export { type CallOrder, type CallSearch, callOrders, findCall, findCalls } from './find-calls.ts';
export { type ConfiguredProvider, type ProviderHealth, readProviderHealth } from './provider-state.ts';
export { readOverview } from './usage-overview.ts';
export { isTagGrouping, type UsageGrouping, usageGroupings } from './usage-shares.ts';
export { readUsage, summarizeUsage, type UsageSummary } from './usage-summary.ts';
