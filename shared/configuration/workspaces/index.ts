export { applyPreset, presetFault } from './apply-preset.ts';
export { mergeWorkspace } from './merge-workspace.ts';
export type { PresetDocument, WorkspaceChanges, WorkspaceDocument } from './workspace-document.ts';
export { memberKeysSchema, policySchema, settingsOf, workspaceChanges, workspaceSettings } from './workspace-schema.ts';
export {
  createWorkspaceReader,
  createWorkspaceStore,
  type WorkspaceReader,
  type WorkspaceStore,
} from './workspace-store.ts';
