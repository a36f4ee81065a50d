export type { CallOutcome, CallRecord } from './call-record.ts';
export { type CallRecords, type CallRecordsOptions, createCallRecords } from './call-records.ts';
export { nothingIn, summarizeUsage, type UsageGrouping, type UsageSummary, usageGroupings } from './usage-summary.ts';
export { isUtcDay, utcDayOf } from './utc-day.ts';
