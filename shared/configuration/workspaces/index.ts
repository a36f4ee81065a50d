export { applyPreset } from './apply-preset.ts';
export { mergeWorkspace } from './merge-workspace.ts';
export type { MemberKeys, PresetDocument, WorkspaceChanges, WorkspaceDocument } from './workspace-document.ts';
export { createWorkspaceReader, type WorkspaceReader } from './workspace-reader.ts';
export { createWorkspaceStore, type WorkspaceStore } from './workspace-store.ts';
