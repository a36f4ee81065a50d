// What the management interface answers with, as far as the page shows it.
import type {
  ManagedKey,
  ManagedProvider,
  Overview,
} from '../../../../shared/configuration/management-documents/index.ts';

export type {
  ManagedAddition as Addition,
  ManagedFunction as StoredFunction,
  ManagedKey as Key,
  ManagedListUpdate as ListUpdate,
  ManagedModel as Model,
  ManagedProvider as Provider,
  ManagedReplacement as Replacement,
  ManagedSession as Session,
  ManagedSwitch as Switched,
  ManagedWorkspace as Workspace,
  Overview,
} from '../../../../shared/configuration/management-documents/index.ts';

export interface Single<Value> {
  readonly data: Value;
}

export interface List<Value> {
  readonly data: readonly Value[];
  readonly next_cursor: string | null;
}

export type Figures = Overview['totals'];
/** One model at one provider. */
export type ProviderModel = ManagedProvider['models'][number];
export type Health = Omit<ProviderModel, 'model' | 'limits'>;
export type LimitUse = NonNullable<ProviderModel['limits']['rpm']>;
/** `key` is the text, which no other answer has. */
export type NewKey = ManagedKey & { readonly key: string };

export interface Attempt {
  readonly provider: string;
  readonly outcome: string;
  readonly status?: number;
  readonly ms: number;
  readonly model?: string;
  readonly schema_mismatch?: string;
  readonly provider_text?: string;
}

export interface Call {
  readonly id: string;
  readonly workspace: string;
  readonly created_at: string;
  readonly outcome: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly status: number | null;
  readonly model: string | null;
  readonly model_asked: string | null;
  readonly provider: string | null;
  readonly replay_of: string | null;
  readonly attempts: readonly Attempt[];
  readonly attempt_count: number;
  readonly function_id: string | null;
  readonly revision_id: string | null;
  readonly stream: boolean;
  readonly cache_hit: boolean;
  readonly is_byok: boolean;
  readonly prompt_tokens: number;
  readonly cached_tokens: number;
  readonly completion_tokens: number;
  readonly estimated: boolean;
  readonly cost_usd: string;
  readonly total_ms: number;
  readonly first_output_ms: number | null;
  readonly queued_ms: number;
  readonly gateway_ms: number;
  readonly key_name: string | null;
  readonly key_public_id: string;
  readonly user: string | null;
  readonly title: string | null;
  readonly referer: string | null;
  readonly trace_id: string;
  readonly span_id: string | null;
  readonly session_id: string | null;
  readonly tags?: Readonly<Record<string, string>> | null;
}
