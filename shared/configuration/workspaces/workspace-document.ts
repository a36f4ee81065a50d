// A workspace as it is stored, less its keys, connections and functions, which have tables of their own. Member names are
// those of the gateway file.
import type { SettingChanges, WorkspaceSettings } from './workspace-schema.ts';

export interface PresetDocument {
  slug: string;
  versions: { version: string; config: Record<string, unknown> }[];
  /** The version that an unpinned call gets. */
  designated: string;
}

export interface WorkspaceDocument extends Omit<WorkspaceSettings, 'concurrency' | 'tpm' | 'member_keys'> {
  id: string;
  /** Set when the workspace is created, and only then. */
  credit_usd: string;
  /** Items its credit is spread over: one for about 150 calls at a time. May grow, never shrink. Left out: 1. */
  credit_shards?: number | undefined;
  /** Calls in flight. Null or absent: only those of the service and of keys limit. */
  concurrency?: WorkspaceSettings['concurrency'] | undefined;
  /** Tokens per minute. Null or absent: no limit. */
  tpm?: WorkspaceSettings['tpm'] | undefined;
  presets: PresetDocument[];
  /** What keys members make for themselves. Null or absent: none. */
  member_keys?: WorkspaceSettings['member_keys'] | undefined;
}

export type MemberKeys = NonNullable<WorkspaceSettings['member_keys']>;

/** A preset as a gateway file writes it: what is left out stays as it is stored. */
export interface PresetChanges {
  slug: string;
  /** absent: the preset is removed. */
  state?: 'absent' | undefined;
  versions?: PresetDocument['versions'] | undefined;
  designated?: string | undefined;
}

/** A workspace as it is written: what is left out stays as it is stored, or has its default when it is new. */
export interface WorkspaceChanges extends SettingChanges {
  id: string;
  credit_usd?: string | undefined;
  credit_shards?: number | undefined;
  presets?: readonly PresetChanges[] | undefined;
}
