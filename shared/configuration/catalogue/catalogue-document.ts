// Defines the catalogue as the gateway file writes it, checked and with its defaults. Field names are those of the
// file. Prices stay decimal strings until `loadCatalogue`.

import type { Extra, ProviderApi } from '../../foundation/constants/index.ts';
import type { ProviderKind } from '../model-list/index.ts';
import type { UnitPricesDocument } from './unit-prices.ts';

/** Place of a secret: a variable of the process, or a name in the secret of a stage. */
export type SecretReference = { env: string } | { secret: string };

/**
 * Authentication of calls to a provider, and the place of its credential. Only the reference is stored, never the
 * secret.
 */
export type ProviderAuth =
  | { bearer: SecretReference }
  /** The credential by itself, in a header of this name (lower case). */
  | { header: { name: string } & SecretReference }
  | { sigv4: { service: string; region: string } }
  /** Tokens of Google Cloud, issued with the JSON of a service account. */
  | { gcp: SecretReference }
  | { entra: EntraClient }
  | 'none';

/** An application of Microsoft Entra, with whose tokens calls are authenticated. */
export interface EntraClient {
  tenant: string;
  client_id: string;
  client_secret: SecretReference;
  /** Authority. If absent, the authority of Azure's public cloud is used. */
  authority?: string | undefined;
  /** Scope. If absent, the scope of Azure's AI services is used. */
  scope?: string | undefined;
}

/** Policy that a provider declares. An absent field is unknown, and unknown satisfies no policy. */
export interface DeclaredPolicy {
  zdr?: boolean | undefined;
  data_collection?: 'allow' | 'deny' | undefined;
  data_residency?: string[] | undefined;
}

export interface ProviderDocument {
  id: string;
  /** Kind of the provider; absent if the file described it completely. */
  kind?: ProviderKind | undefined;
  /** AWS region. */
  region?: string | undefined;
  display_name: string;
  /**
   * Status; a disabled provider is not called. It is stored next to the catalogue's version, so that a change of it is
   * one small write.
   */
  status: 'enabled' | 'disabled';
  /** Base URL without trailing slash; the gateway appends the path of each interface. */
  base_url: string;
  apis: ProviderApi[];
  /** Authentication; if there are several credentials, with the first credential. */
  auth: ProviderAuth;
  /** Secrets of several accounts, in place of the secret in `auth`. Absent if the provider has one account. */
  credentials?: SecretReference[] | undefined;
  /** Headers that are sent unchanged with each call. Their names are in lower case, and no header is a credential. */
  headers?: Record<string, string> | undefined;
  accepts_byok_header: boolean;
  data_policy: DeclaredPolicy;
  /** Absent: the default, which limits streams only. A written value limits the first byte of JSON answers too. */
  first_chunk_timeout_ms?: number | undefined;
  idle_timeout_ms: number;
  connect_timeout_ms: number;
  /** Absent: `effort`, and no reasoning options for unknown models. */
  reasoning_style?: 'effort' | 'object' | 'none' | undefined;
  /** False if the provider refuses `stream_options.include_usage`, so that a stream is billed by estimate. */
  stream_usage?: boolean | undefined;
  /** Betas of Anthropic and fields, of a body or inside one of its fields, that the provider never gets. */
  drops?: { betas?: string[] | undefined; members?: string[] | undefined } | undefined;
  /** New names of a body's fields, by the names that clients or packages use. */
  renames?: Record<string, string> | undefined;
  /** True if every workspace may refer to objects that its account stores (responses, conversations, files). */
  shared_state?: boolean | undefined;
  /** `additive`: reasoning tokens are counted in addition to completion tokens. */
  reasoning_tokens: 'included' | 'additive';
}

export interface SupportedParams {
  tools: boolean;
  vision: boolean;
  json_mode: boolean;
  json_schema: boolean;
  /** False if the model supports tools only in whole answers, which the gateway writes as streams. */
  tools_in_streams?: boolean | undefined;
  /** Extras that the entry allows. Absent: none. */
  extras?: Extra[] | undefined;
}

/** Prices of tokens other than text; the prices of text if absent. */
export interface MediaPrices {
  audio_input_price_per_million?: string | undefined;
  image_input_price_per_million?: string | undefined;
  audio_output_price_per_million?: string | undefined;
  image_output_price_per_million?: string | undefined;
}

/** Prices of a call with a longer prompt. The whole call is priced by the last tier that it reaches. */
export interface PriceTierDocument extends MediaPrices {
  /** Bound in tokens, cached and written tokens included. */
  above_prompt_tokens: number;
  input_price_per_million: string;
  output_price_per_million: string;
  cached_input_price_per_million?: string | undefined;
  cache_write_input_price_per_million?: string | undefined;
  cache_write_1h_input_price_per_million?: string | undefined;
}

export interface ModelProviderDocument extends MediaPrices, UnitPricesDocument {
  provider: string;
  upstream_model: string;
  /** Model of the list whose prices, bounds and features the entry has: NAME of the provider's kind, or KIND/NAME. */
  list_model?: string | undefined;
  /** Price in USD per million tokens. Null means that calls cannot be billed, so they need BYOK. */
  input_price_per_million: string | null;
  output_price_per_million: string | null;
  cached_input_price_per_million?: string | undefined;
  /** Price of input that the provider writes into its cache. */
  cache_write_input_price_per_million?: string | undefined;
  /** Price of input that the provider caches for an hour. */
  cache_write_1h_input_price_per_million?: string | undefined;
  /** Tiers with rising bounds. */
  price_tiers?: PriceTierDocument[] | undefined;
  context_length: number;
  max_output_tokens: number;
  /** Output bound of a call without a bound; if absent, the bound of the service. */
  default_output_tokens?: number | undefined;
  /** `auto` means that the gateway marks prompts for the provider's cache. Default: the model's value. */
  prompt_cache?: PromptCache | undefined;
  /** Share of the calls among entries with a weight. Absent: the entry follows these entries, sorted by price. */
  weight?: number | undefined;
  /** Interfaces of its provider that the entry supports; all if absent. */
  apis?: ProviderApi[] | undefined;
  supported_params: SupportedParams;
  streaming: boolean;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  rate_limit_tpd: number | null;
  /** The fields that the file wrote itself, if the model list filled in the others. */
  written?: string[] | undefined;
}

export const promptCaches = ['auto', 'off'] as const;
type PromptCache = (typeof promptCaches)[number];

export interface ModelDocument {
  id: string;
  display_name: string;
  /** Creation time in epoch seconds. */
  created: number;
  context_length: number;
  modalities: string[];
  /** True if `model: auto` may choose it. */
  auto: boolean;
  /** Default: the service's value. */
  prompt_cache?: PromptCache | undefined;
  providers: ModelProviderDocument[];
  /** The fields that the file wrote itself, as in an entry. */
  written?: string[] | undefined;
}

export interface ServiceDocument {
  function_execution: 'enabled' | 'disabled';
  /** Maximum concurrent function calls. Null: no limit. */
  function_concurrency: number | null;
  /** Maximum concurrent calls of all workspaces. Null or absent: the default of the stage; locally no limit. */
  concurrency?: number | null | undefined;
  /**
   * Maximum concurrent calls of keys without their own limit. Null or absent: the default of the stage; locally no
   * limit.
   */
  key_concurrency?: number | null | undefined;
  queue_ms: number;
  /** Whether Messages and Responses are translated for providers with another interface. Absent: enabled. */
  translation?: 'enabled' | 'disabled' | undefined;
  /** Output bound for every entry without its own bound. Null or absent: none. */
  default_output_tokens?: number | null | undefined;
  /** If absent, only clients mark the parts to cache. */
  prompt_cache?: PromptCache | undefined;
  /** Alerts. Null or absent: none are sent. */
  alerts?: AlertsDocument | null | undefined;
}

interface AlertsDocument {
  url: SecretReference;
  /** Shares of a limit in percent, rising. */
  at: number[];
  /** Key of the signature. Absent: no signature is sent. */
  secret?: SecretReference | undefined;
}

/** Models that a file takes from the model list, under the list's names. */
interface ListedModelsDocument {
  from: string;
  only?: string[] | undefined;
  /** If set, the ids of the models are their names alone, without the provider. */
  as?: 'NAME' | undefined;
}

export const guardrailDirections = ['input', 'output'] as const;
export type GuardrailDirection = (typeof guardrailDirections)[number];

interface GuardrailRules {
  id: string;
  on: GuardrailDirection[];
  /** Decides about a call whose check fails or takes too long. */
  on_failure: 'block' | 'pass';
  /** Time limit of one check. */
  timeout_ms: number;
  /** Number of characters of a stream that are delayed for one check. */
  window_characters: number;
}

export interface HttpGuardrail extends GuardrailRules {
  kind: 'http';
  url: string;
  auth: ProviderAuth;
}

export interface BedrockGuardrail extends GuardrailRules {
  kind: 'bedrock';
  /** Id or ARN of the guardrail. */
  guardrail: string;
  version: string;
  region: string;
  /**
   * Prices in USD per 1,000 text units, by the names of `usage` in its answers. Absent: its checks have units and no
   * cost.
   */
  unit_prices?: Record<string, string> | undefined;
}

/** Rules of a guardrail that searches texts within the process. */
interface FindingRules extends GuardrailRules {
  action: 'block' | 'mask';
}

export interface WordsGuardrail extends FindingRules {
  kind: 'words';
  /** Words and phrases to find. */
  words: string[];
}

export interface PatternsGuardrail extends FindingRules {
  kind: 'patterns';
  /** Patterns to find; `regex`: in the syntax of RE2. A mask contains the name. */
  patterns: { name: string; regex: string }[];
}

export const personalTypes = ['email', 'phone', 'card', 'iban', 'ip', 'credential'] as const;
export type PersonalType = (typeof personalTypes)[number];

export interface PersonalGuardrail extends FindingRules {
  kind: 'pii';
  types: PersonalType[];
}

/** A guardrail, which checks the texts of calls. */
export type GuardrailDocument =
  | HttpGuardrail
  | BedrockGuardrail
  | WordsGuardrail
  | PatternsGuardrail
  | PersonalGuardrail;

export interface CatalogueDocument {
  service: ServiceDocument;
  providers: ProviderDocument[];
  models: ModelDocument[];
  /** Guardrails, to which workspaces and keys refer by id. */
  guardrails?: GuardrailDocument[] | undefined;
  /** Items of the model list, some of whose models are in `models`. Absent if the file names each model. */
  listed?: ListedModelsDocument[] | undefined;
}
