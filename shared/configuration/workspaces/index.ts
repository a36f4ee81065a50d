export { type AppliedPreset, applyPreset } from './apply-preset.ts';
export type { PresetDocument, WorkspaceDocument } from './document.ts';
export { keepCredit } from './keep-credit.ts';
export { createWorkspaceReader, type WorkspaceReader, type WorkspaceReaderOptions } from './workspace-reader.ts';
export { createWorkspaceStore, type WorkspaceStore, type WorkspaceWrite } from './workspace-store.ts';
