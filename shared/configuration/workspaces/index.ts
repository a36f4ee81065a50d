export { applyPreset } from './apply-preset.ts';
export type { PresetDocument, WorkspaceChanges, WorkspaceDocument } from './document.ts';
export { mergeWorkspace } from './merge-workspace.ts';
export { createWorkspaceReader, type WorkspaceReader } from './workspace-reader.ts';
export { createWorkspaceStore, type WorkspaceStore } from './workspace-store.ts';
