export { applyPreset } from './apply-preset.ts';
export type { PresetChanges, PresetDocument, WorkspaceChanges, WorkspaceDocument } from './document.ts';
export { mergeWorkspace } from './merge-workspace.ts';
export { createWorkspaceReader, type WorkspaceReader } from './workspace-reader.ts';
export { createWorkspaceStore, type WorkspaceStore, type WorkspaceWrite } from './workspace-store.ts';
