// Defines a stored workspace, without its keys, connections and functions, which have tables of their own. Field names
// are those of the gateway file.
import type { SettingChanges, WorkspaceSettings } from './workspace-schema.ts';

export interface PresetDocument {
  slug: string;
  versions: { version: string; config: Record<string, unknown> }[];
  /** The version that an unpinned call gets. */
  designated: string;
}

/** Settings that every stored workspace has. Others are absent or null if they do not apply. */
type Always = 'spend_limit_usd' | 'models' | 'data_policy' | 'function_concurrency' | 'features';
type Sometimes = {
  [Name in Exclude<keyof WorkspaceSettings, Always | 'member_keys'>]?: WorkspaceSettings[Name] | undefined;
};

export interface WorkspaceDocument extends Pick<WorkspaceSettings, Always>, Sometimes {
  id: string;
  /** Initial credit, which is set only when the workspace is created. */
  credit_usd: string;
  /** Number of items for its credit: one for about 150 concurrent calls. It may grow, never shrink. Default: 1. */
  credit_shards?: number | undefined;
  presets: PresetDocument[];
  member_keys?: MemberKeys | null | undefined;
}

/** Limits of the keys that members make for themselves. An absent or null limit does not apply. */
type MemberKeys = Partial<NonNullable<WorkspaceSettings['member_keys']>> & { max: number };

/** A preset as a gateway file writes it. Absent fields keep their stored values. */
export interface PresetChanges {
  slug: string;
  /** `absent` means that the preset is removed. */
  state?: 'absent' | undefined;
  versions?: PresetDocument['versions'] | undefined;
  designated?: string | undefined;
}

/** Changes of a workspace. Absent fields keep their stored values, or have defaults in a new workspace. */
export interface WorkspaceChanges extends SettingChanges {
  id: string;
  credit_usd?: string | undefined;
  credit_shards?: number | undefined;
  presets?: readonly PresetChanges[] | undefined;
}
