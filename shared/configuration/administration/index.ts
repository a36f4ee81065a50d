export { addCredit, readCredit, readCredits, type WorkspaceCredit } from './add-credit.ts';
export { ChangeFailed, type ChangeFailure, isRefusal, refuseAs, refuseUnansweredKey } from './change-failed.ts';
export {
  changeFunction,
  readFunction,
  readFunctions,
  showFunction,
} from './change-functions.ts';
export {
  createKey,
  type KeyFigures,
  readFigures as readKeyFigures,
  readKey,
  readKeys,
  updateKey,
} from './change-keys.ts';
export { createOperator, readOperator, readOperators, revokeOperator } from './change-operators.ts';
export {
  changeWorkspace,
  createWorkspace,
  noSuchWorkspace,
  readWorkspace,
  readWorkspaces,
  writeWorkspace,
} from './change-workspaces.ts';
export { type KeyChanges, writeKey } from './key-rules.ts';
export { checkWithin, claimMemberSlot, memberBounds, withinBounds } from './member-keys.ts';
export { type AdministrationDependencies, createAdministration, type OperatorStores } from './operator-stores.ts';
export { configuredProviders, modelsServedBy, planProviderStatus } from './provider-status.ts';
export { reconcileKeys } from './reconcile-keys.ts';
export { readActiveKey, rotateKey } from './rotate-key.ts';
