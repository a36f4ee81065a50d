export {
  type CallDocument,
  callDocument,
  callDocumentSchemas,
  classOf,
  errorCodeOf,
  operatorCallDocument,
} from './call-document.ts';
export type { CallAttempt, CallOutcome, CallShare, ContentPlace } from './call-record.ts';
export { callPosition, isUtcDay, utcDayOf, utcDaysBetween } from './call-record-item.ts';
export { type CallRecords, createCallRecords, createRefusalQuota, type RefusalQuota } from './call-records.ts';
export { partsOfGateway, type TimedPart } from './call-time-line.ts';
export { csvHeader, csvLine, describePath } from './csv-line.ts';
export { sumOfChecks } from './guardrail-checks.ts';
export { attemptsText, type CallRecord, type MemberName } from './record-members.ts';
export { calledName } from './stored-kinds.ts';
