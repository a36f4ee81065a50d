// A workspace as it is written in the gateway file (contract 9), less its keys, which have a table of their own.
import type { DeclaredPolicy } from '../catalogue/index.ts';

export interface PresetDocument {
  slug: string;
  versions: { version: string; config: Record<string, unknown> }[];
  /** The version an unpinned call gets. */
  designated: string;
}

export interface WorkspaceDocument {
  id: string;
  /** Set when the workspace is created, and only then. */
  credit_usd: string;
  /** Items its credit is spread over: one for about 150 calls at a time. May grow, never shrink. Left out: what is stored, else 1. */
  credit_shards?: number | undefined;
  /** Cap on all that the workspace spends; null: none. */
  spend_limit_usd: string | null;
  /** Any other model is unknown_model in this workspace. */
  models: 'all' | string[];
  /** Enforced on every request of the workspace. */
  data_policy: DeclaredPolicy;
  /** Null: only the service level limits. */
  function_concurrency: number | null;
  features: { byok: boolean; presets: boolean };
  presets: PresetDocument[];
}
