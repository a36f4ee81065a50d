// A stored workspace, without its keys, connections and functions, which have tables of their own. Field names are
// those of the gateway file.
import type { SettingChanges, WorkspaceSettings } from './workspace-schema.ts';

export interface PresetDocument {
  slug: string;
  versions: { version: string; config: Record<string, unknown> }[];
  /** The version that an unpinned call gets. */
  designated: string;
}

export interface WorkspaceDocument
  extends Omit<WorkspaceSettings, 'concurrency' | 'tpm' | 'guardrails' | 'member_keys' | 'content_log'> {
  id: string;
  /** Set when the workspace is created, and only then. */
  credit_usd: string;
  /** Items of its credit: one for about 150 concurrent calls. May grow, never shrink. Default: 1. */
  credit_shards?: number | undefined;
  /** Limit of calls in flight. Null or absent: only the limits of the service and of keys apply. */
  concurrency?: WorkspaceSettings['concurrency'] | undefined;
  /** Tokens per minute. Null or absent: no limit. */
  tpm?: WorkspaceSettings['tpm'] | undefined;
  /** Ids of guardrails that check all its calls. Null or absent: none. */
  guardrails?: WorkspaceSettings['guardrails'] | undefined;
  presets: PresetDocument[];
  /** Limits of the keys that members make for themselves. Null or absent: none may. */
  member_keys?: WorkspaceSettings['member_keys'] | undefined;
  /** Which bodies of calls are kept. Null or absent: none. */
  content_log?: WorkspaceSettings['content_log'] | undefined;
}

export type MemberKeys = NonNullable<WorkspaceSettings['member_keys']>;

/** A preset as a gateway file writes it: absent fields keep their stored values. */
export interface PresetChanges {
  slug: string;
  /** absent: the preset is removed. */
  state?: 'absent' | undefined;
  versions?: PresetDocument['versions'] | undefined;
  designated?: string | undefined;
}

/** A workspace as it is written: absent fields keep their stored values, or have defaults in a new one. */
export interface WorkspaceChanges extends SettingChanges {
  id: string;
  credit_usd?: string | undefined;
  credit_shards?: number | undefined;
  presets?: readonly PresetChanges[] | undefined;
}
