// The catalogue as the gateway file writes it, checked and with its defaults filled in. Member names are those of the file.
// Prices stay decimal strings until `loadCatalogue`.

import type { Extra, ProviderApi } from '../../foundation/constants/index.ts';
import type { ProviderKind } from '../model-list/index.ts';

/** Where a secret stands: in a variable of the process, or under a name in the secret of a stage. */
export type SecretReference = { env: string } | { secret: string };

/** How a provider is called, and where its credential comes from. Only the reference is stored, never the secret. */
export type ProviderAuth =
  | { bearer: SecretReference }
  /** The credential alone, in a header of this name (lower case). */
  | { header: { name: string } & SecretReference }
  | { sigv4: { service: string; region: string } }
  /** Tokens of Google Cloud, made with the JSON of a service account. */
  | { gcp: SecretReference }
  | 'none';

/** What a provider declares. A missing member is unknown, and unknown satisfies no policy. */
export interface DeclaredPolicy {
  zdr?: boolean | undefined;
  data_collection?: 'allow' | 'deny' | undefined;
  data_residency?: string[] | undefined;
}

export interface ProviderDocument {
  id: string;
  /** What it has in common with others. Left out: the file described it whole. */
  kind?: ProviderKind | undefined;
  /** Of AWS. */
  region?: string | undefined;
  display_name: string;
  /** Disabled: no call goes there. Stored beside the catalogue's version, so that a change of it is one small write. */
  status: 'enabled' | 'disabled';
  /** The gateway appends the path of each interface. No trailing slash. */
  base_url: string;
  /** The interfaces it speaks. */
  apis: ProviderApi[];
  /** With several credentials that of the first. */
  auth: ProviderAuth;
  /** Secrets of several accounts, in place of the one in `auth`. Absent: it has one. */
  credentials?: SecretReference[] | undefined;
  /** Sent on each call as they are: names in lower case, none of them a credential. */
  headers?: Record<string, string> | undefined;
  accepts_byok_header: boolean;
  data_policy: DeclaredPolicy;
  /** Absent: the default, which binds streams only. Written: it binds the first byte of JSON answers too. */
  first_chunk_timeout_ms?: number | undefined;
  idle_timeout_ms: number;
  connect_timeout_ms: number;
  /** Absent: `effort`, and models of which nothing is known are told none. */
  reasoning_style?: 'effort' | 'object' | 'none' | undefined;
  /** False: it refuses `stream_options.include_usage`, so a stream is billed by estimate. */
  stream_usage?: boolean | undefined;
  /** What is never sent to it: betas of Anthropic, and members of a body, or inside one of these. */
  drops?: { betas?: string[] | undefined; members?: string[] | undefined } | undefined;
  /** Members of a body, by the name that clients or packages give them. */
  renames?: Record<string, string> | undefined;
  /** What its account keeps (responses, conversations, files) every workspace may refer to. */
  shared_state?: boolean | undefined;
  /** additive: reasoning tokens come on top of completion tokens. */
  reasoning_tokens: 'included' | 'additive';
}

export interface SupportedParams {
  tools: boolean;
  vision: boolean;
  json_mode: boolean;
  json_schema: boolean;
  /** Left out: none. */
  extras?: Extra[] | undefined;
}

/** Of tokens that are no text. Left out: as of text. */
export interface MediaPrices {
  audio_input_price_per_million?: string | undefined;
  image_input_price_per_million?: string | undefined;
  audio_output_price_per_million?: string | undefined;
  image_output_price_per_million?: string | undefined;
}

/** Prices of a call whose prompt is longer: the whole call is priced by the last tier that it reaches. */
export interface PriceTierDocument extends MediaPrices {
  /** Cached and written tokens included. */
  above_prompt_tokens: number;
  input_price_per_million: string;
  output_price_per_million: string;
  cached_input_price_per_million?: string | undefined;
  cache_write_input_price_per_million?: string | undefined;
  cache_write_1h_input_price_per_million?: string | undefined;
}

/** One provider of one model. */
export interface ModelProviderDocument extends MediaPrices {
  provider: string;
  upstream_model: string;
  /** USD per million tokens. Null cannot be billed: BYOK only. */
  input_price_per_million: string | null;
  output_price_per_million: string | null;
  cached_input_price_per_million?: string | undefined;
  /** Of input that the provider writes into its cache. */
  cache_write_input_price_per_million?: string | undefined;
  /** Of that which it keeps there for an hour. */
  cache_write_1h_input_price_per_million?: string | undefined;
  /** Bounds rise. */
  price_tiers?: PriceTierDocument[] | undefined;
  context_length: number;
  max_output_tokens: number;
  /** The output bound of a call that names none. Left out: that of the service. */
  default_output_tokens?: number | undefined;
  /** `auto`: the gateway marks prompts for the cache of the provider. Left out: as of the model. */
  prompt_cache?: PromptCache | undefined;
  /** Its share of the calls beside other entries with a weight. Absent: it follows these, by price. */
  weight?: number | undefined;
  /** Of the interfaces of its provider. Left out: all. */
  apis?: ProviderApi[] | undefined;
  supported_params: SupportedParams;
  streaming: boolean;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  rate_limit_tpd: number | null;
  /** Where the model list filled in what the file left out: the members that the file wrote itself. */
  written?: string[] | undefined;
}

export const promptCaches = ['auto', 'off'] as const;
export type PromptCache = (typeof promptCaches)[number];

export interface ModelDocument {
  id: string;
  display_name: string;
  /** Epoch seconds. */
  created: number;
  context_length: number;
  modalities: string[];
  /** Whether `model: auto` may choose it. */
  auto: boolean;
  /** Left out: as of the service. */
  prompt_cache?: PromptCache | undefined;
  providers: ModelProviderDocument[];
  /** As of an entry. */
  written?: string[] | undefined;
}

export interface ServiceDocument {
  function_execution: 'enabled' | 'disabled';
  /** Null: no limit. */
  function_concurrency: number | null;
  /** Calls in flight, of all workspaces. Null or absent: the default of the stage; locally no limit. */
  concurrency?: number | null | undefined;
  /** Of a key that has none of its own. Null or absent: the default of the stage; locally no limit. */
  key_concurrency?: number | null | undefined;
  queue_ms: number;
  /** Of Messages and Responses at providers that speak another interface. Absent: enabled. */
  translation?: 'enabled' | 'disabled' | undefined;
  /** Of every entry that has none of its own. Null, or left out: none. */
  default_output_tokens?: number | null | undefined;
  /** Left out: clients mark what they want kept. */
  prompt_cache?: PromptCache | undefined;
}

/** Models that a file takes from the model list, as it names them. */
export interface ListedModelsDocument {
  from: string;
  only?: string[] | undefined;
}

export interface CatalogueDocument {
  service: ServiceDocument;
  providers: ProviderDocument[];
  models: ModelDocument[];
  /** Of these some are in `models`. Left out: the file named each. */
  listed?: ListedModelsDocument[] | undefined;
}
