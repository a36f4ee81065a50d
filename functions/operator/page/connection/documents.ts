// What the management interface answers with, as far as the page shows it. Money is exact decimal text.

export interface Single<Value> {
  readonly data: Value;
}

export interface List<Value> {
  readonly data: readonly Value[];
  readonly next_cursor: string | null;
}

export interface Figures {
  readonly calls: number;
  readonly failed: number;
  readonly cost_usd: string;
  readonly tokens: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

export interface Overview {
  readonly interval: 'hour' | 'day';
  /** False: there are more calls than one answer counts, and those before `counted_since` are left out. */
  readonly is_complete: boolean;
  readonly counted_since: string;
  readonly totals: Figures;
  readonly series: readonly (Figures & { readonly time: string })[];
  readonly by_model: readonly (Figures & { readonly model: string | null })[];
  readonly by_provider: readonly (Figures & {
    readonly provider: string | null;
    readonly attempts: number;
    readonly failed_attempts: number;
  })[];
  readonly by_key: readonly (Figures & { readonly key: string; readonly name: string | null })[];
  /** Only where the values of a tag were asked for; null: the calls without it. */
  readonly by_tag?: readonly (Figures & { readonly value: string | null })[];
}

export interface Attempt {
  readonly provider: string;
  readonly outcome: string;
  readonly status?: number;
  readonly ms: number;
  readonly model?: string;
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

export interface Key {
  readonly public_id: string;
  readonly workspace: string;
  readonly name: string;
  readonly status: 'active' | 'revoked';
  readonly rpm: number | null;
  readonly spend_limit_usd: string | null;
  readonly spend_limit_reset: string | null;
  readonly expires_at: string | null;
  readonly models: readonly string[] | 'all';
  readonly tags: Readonly<Record<string, string>>;
  readonly spent_usd: string | null;
}

/** `key` is the text, which no other answer has. */
export type NewKey = Key & { readonly key: string };

export interface Workspace {
  readonly id: string;
}

export interface StoredFunction {
  readonly workspace: string;
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  /** The revision that serves. */
  readonly active: string | null;
  readonly revisions: readonly { readonly id: string; readonly state: string; readonly expires_at?: string | null }[];
}

/** One model at one provider. */
export interface Health {
  readonly state: string;
  readonly is_cooling: boolean;
  /** `all`, or the workspaces that it cools for. */
  readonly cooling_for: 'all' | readonly string[];
  readonly median_latency_ms: number | null;
  readonly throughput_rpm: number | null;
  readonly uptime: number | null;
}

export interface LimitUse {
  readonly limit: number;
  readonly used: number;
}

export interface ProviderModel extends Health {
  readonly model: string;
  readonly limits: Readonly<Record<'rpm' | 'tpm' | 'tpd', LimitUse | null>>;
}

export interface Provider {
  readonly id: string;
  readonly display_name: string;
  readonly status: string;
  readonly base_url: string;
  readonly models: readonly ProviderModel[];
}

export interface Model {
  readonly id: string;
  readonly display_name: string;
  readonly context_length: number;
  readonly modalities: readonly string[];
  readonly providers: readonly {
    readonly provider: string;
    readonly input_price_per_million: string;
    readonly output_price_per_million: string;
    readonly state?: string;
  }[];
}
