export { callDocument, operatorCallDocument } from './call-document.ts';
export type { CallAttempt, CallOutcome, CallRecord } from './call-record.ts';
export { type CallRecords, createCallRecords } from './call-records.ts';
export { describePath } from './describe-path.ts';
export { type CallSearch, findCall, findCalls } from './find-calls.ts';
export { attemptsText } from './record-members.ts';
export { createRefusalQuota, type RefusalQuota } from './refusal-quota.ts';
export {
  addSummaries,
  nothingIn,
  summarizeUsage,
  type UsageGrouping,
  type UsageSummary,
  usageGroupings,
} from './usage-summary.ts';
export { isUtcDay, utcDayOf, utcDaysBetween } from './utc-day.ts';
