// A workspace as it is stored, less its keys, connections and functions, which have tables of their own. Member names are
// those of the gateway file.
import type { SpendLimitReset } from '../../accounting/holds/index.ts';
import type { DeclaredPolicy } from '../catalogue/index.ts';

export interface PresetDocument {
  slug: string;
  versions: { version: string; config: Record<string, unknown> }[];
  /** The version that an unpinned call gets. */
  designated: string;
}

export interface WorkspaceDocument {
  id: string;
  /** Set when the workspace is created, and only then. */
  credit_usd: string;
  /** Items its credit is spread over: one for about 150 calls at a time. May grow, never shrink. Left out: 1. */
  credit_shards?: number | undefined;
  /** Cap on all that the workspace spends; null: none. */
  spend_limit_usd: string | null;
  /** Any other model is unknown_model in this workspace. */
  models: 'all' | string[];
  /** Enforced on every request of the workspace. */
  data_policy: DeclaredPolicy;
  /** Calls in flight. Null or absent: only those of the service and of keys limit. */
  concurrency?: number | null | undefined;
  /** Null: only the service level limits. */
  function_concurrency: number | null;
  features: { byok: boolean; presets: boolean };
  presets: PresetDocument[];
  /** What keys members make for themselves. Left out, null: none. */
  member_keys?: MemberKeys | null | undefined;
}

/** At most, for each key of a member; null: no such limit. */
export interface MemberKeys {
  /** Keys of one person at once. */
  max: number;
  rpm: number | null;
  concurrency: number | null;
  spend_limit_usd: string | null;
  spend_limit_reset: SpendLimitReset | null;
  /** As in `30d`. */
  expires_in: string | null;
}

/** A preset as a gateway file writes it: what is left out stays as it is stored. */
export interface PresetChanges {
  slug: string;
  /** absent: the preset is removed. */
  state?: 'absent' | undefined;
  versions?: PresetDocument['versions'] | undefined;
  designated?: string | undefined;
}

type Settings = Omit<
  WorkspaceDocument,
  'id' | 'credit_shards' | 'data_policy' | 'features' | 'presets' | 'member_keys'
>;

/** A workspace as a gateway file writes it: what is left out stays as it is stored, or has its default when it is new. */
export interface WorkspaceChanges extends Partial<{ [Name in keyof Settings]: Settings[Name] | undefined }> {
  id: string;
  credit_shards?: number | undefined;
  /** Null takes a policy away. */
  data_policy?: { [Name in keyof DeclaredPolicy]: DeclaredPolicy[Name] | null } | undefined;
  features?: { byok?: boolean | undefined; presets?: boolean | undefined } | undefined;
  presets?: readonly PresetChanges[] | undefined;
  /** Null: members make no keys. What is left out of it has no limit. */
  member_keys?: { [Name in keyof MemberKeys]?: MemberKeys[Name] | undefined } | null | undefined;
}
