export { callDocument, operatorCallDocument } from './call-document.ts';
export type { CallAttempt, CallOutcome, CallRecord, CallShare } from './call-record.ts';
export { type CallRecords, createCallRecords } from './call-records.ts';
export { describePath } from './describe-path.ts';
export { attemptsText } from './record-members.ts';
export { createRefusalQuota, type RefusalQuota } from './refusal-quota.ts';
export { isUtcDay, utcDayOf, utcDaysBetween } from './utc-day.ts';
