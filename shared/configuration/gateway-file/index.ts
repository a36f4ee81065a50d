export { catalogueInFile } from './catalogue-in-file.ts';
export type { MemberChange } from './changed-members.ts';
export { destructiveChanges, restoredKeys } from './destructive-changes.ts';
export type { GatewayFile } from './gateway-file.ts';
export { type ListDifference, listDifferences, withListValues } from './list-differences.ts';
export {
  ApplyInterrupted,
  type ApplyReport,
  applyGatewayFile,
  type GatewayFilePlan,
  GatewayFileRefused,
  planGatewayFile,
} from './plan-gateway-file.ts';
export type { ConfigurationStores, CreatedKey, PlannedChange } from './planning.ts';
export { formatProblem, looksLikeCredential, type Problem } from './problems.ts';
export { readFunctionDocument } from './read-function.ts';
export { type ReadResult, readGatewayFile } from './read-gateway-file.ts';
