export type { MemberChange } from './changed-members.ts';
export type { FilledMembers } from './complete-providers.ts';
export { destructiveChanges, restoredKeys } from './describe-changes.ts';
export { exportGatewayFile, gatewayFileText } from './export-gateway-file.ts';
export type { GatewayFile } from './gateway-file.ts';
export { type ListDifference, listDifferences, withListValues } from './list-differences.ts';
export {
  ApplyInterrupted,
  type ApplyReport,
  applyGatewayFile,
  ChangedMeanwhile,
  type GatewayFilePlan,
  GatewayFileRefused,
  planGatewayFile,
} from './plan-gateway-file.ts';
export { planListUpdate, shippedListDifferences } from './plan-list-update.ts';
export type { ConfigurationStores, CreatedKey, PlannedChange } from './planning.ts';
export { formatProblem, looksLikeCredential, type Problem } from './problems.ts';
export { readPublication, readPublicationText } from './read-function.ts';
export { type ReadResult, readGatewayFile } from './read-gateway-file.ts';
