export {
  ApplyInterrupted,
  type ApplyOptions,
  type ApplyReport,
  applyGatewayFile,
  type ConfigurationStores,
  type CreatedKey,
  type ResourceChange,
} from './apply.ts';
export type { MemberChange } from './changed-members.ts';
export type { GatewayFile, KeyInFile, WorkspaceInFile } from './gateway-file.ts';
export type { Problem } from './problems.ts';
export { type ReadResult, readGatewayFile } from './read-gateway-file.ts';
export { emptyStore, rehearsalStore } from './rehearsal-store.ts';
export {
  type Rehearsal,
  type RehearsedChange,
  type RehearseOptions,
  rehearseGatewayFile,
} from './rehearse.ts';
export type { RehearsalStores } from './stored-documents.ts';
