// The catalogue as the gateway file writes it, checked and with its defaults. Field names are those of the file. Prices
// stay decimal strings until `loadCatalogue`.

import type { Extra, ProviderApi } from '../../foundation/constants/index.ts';
import type { ProviderKind } from '../model-list/index.ts';
import type { UnitPricesDocument } from './unit-prices.ts';

/** Place of a secret: a variable of the process, or a name in the secret of a stage. */
export type SecretReference = { env: string } | { secret: string };

/** How a provider is called, and where its credential comes from. Only the reference is stored, never the secret. */
export type ProviderAuth =
  | { bearer: SecretReference }
  /** The credential alone, in a header of this name (lower case). */
  | { header: { name: string } & SecretReference }
  | { sigv4: { service: string; region: string } }
  /** Tokens of Google Cloud, made with the JSON of a service account. */
  | { gcp: SecretReference }
  | { entra: EntraClient }
  | 'none';

/** An application of Microsoft Entra, whose tokens calls carry. */
export interface EntraClient {
  tenant: string;
  client_id: string;
  client_secret: SecretReference;
  /** Absent: that of Azure's public cloud. */
  authority?: string | undefined;
  /** Absent: that of Azure's AI services. */
  scope?: string | undefined;
}

/** Policy that a provider declares. A missing field is unknown, and unknown satisfies no policy. */
export interface DeclaredPolicy {
  zdr?: boolean | undefined;
  data_collection?: 'allow' | 'deny' | undefined;
  data_residency?: string[] | undefined;
}

export interface ProviderDocument {
  id: string;
  /** Its kind; absent where the file described it whole. */
  kind?: ProviderKind | undefined;
  /** AWS region. */
  region?: string | undefined;
  display_name: string;
  /**
   * A disabled provider is not called. Stored beside the catalogue's version, so that a change of it is one small
   * write.
   */
  status: 'enabled' | 'disabled';
  /** The gateway appends the path of each interface. No trailing slash. */
  base_url: string;
  /** The interfaces it speaks. */
  apis: ProviderApi[];
  /** The first one where there are several credentials. */
  auth: ProviderAuth;
  /** Secrets of several accounts, in place of the one in `auth`. Absent: it has one. */
  credentials?: SecretReference[] | undefined;
  /** Sent on each call as they are: names in lower case, none of them a credential. */
  headers?: Record<string, string> | undefined;
  accepts_byok_header: boolean;
  data_policy: DeclaredPolicy;
  /** Absent: the default, which limits streams only. Written: it limits the first byte of JSON answers too. */
  first_chunk_timeout_ms?: number | undefined;
  idle_timeout_ms: number;
  connect_timeout_ms: number;
  /** Absent: `effort`, and no reasoning options for unknown models. */
  reasoning_style?: 'effort' | 'object' | 'none' | undefined;
  /** False: it refuses `stream_options.include_usage`, so a stream is billed by estimate. */
  stream_usage?: boolean | undefined;
  /** Betas of Anthropic and fields, of a body or inside one of its fields, that are never sent to it. */
  drops?: { betas?: string[] | undefined; members?: string[] | undefined } | undefined;
  /** Members of a body, by the name that clients or packages give them. */
  renames?: Record<string, string> | undefined;
  /** Whether every workspace may refer to objects that its account keeps (responses, conversations, files). */
  shared_state?: boolean | undefined;
  /** additive: reasoning tokens come on top of completion tokens. */
  reasoning_tokens: 'included' | 'additive';
}

export interface SupportedParams {
  tools: boolean;
  vision: boolean;
  json_mode: boolean;
  json_schema: boolean;
  /** False: tools only in whole answers, which the gateway writes as streams. */
  tools_in_streams?: boolean | undefined;
  /** Absent: none. */
  extras?: Extra[] | undefined;
}

/** Prices of tokens that are no text; those of text if absent. */
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
export interface ModelProviderDocument extends MediaPrices, UnitPricesDocument {
  provider: string;
  upstream_model: string;
  /** Whose prices, bounds and features in the model list it has: NAME of the provider's kind, or KIND/NAME. */
  list_model?: string | undefined;
  /** USD per million tokens. Null cannot be billed: BYOK only. */
  input_price_per_million: string | null;
  output_price_per_million: string | null;
  cached_input_price_per_million?: string | undefined;
  /** Price of input that the provider writes into its cache. */
  cache_write_input_price_per_million?: string | undefined;
  /** Price of input that it caches for an hour. */
  cache_write_1h_input_price_per_million?: string | undefined;
  /** Bounds rise. */
  price_tiers?: PriceTierDocument[] | undefined;
  context_length: number;
  max_output_tokens: number;
  /** The output bound of a call that names none; the service's if absent. */
  default_output_tokens?: number | undefined;
  /** `auto`: the gateway marks prompts for the cache of the provider. Default: that of the model. */
  prompt_cache?: PromptCache | undefined;
  /** Its share of the calls among entries with a weight. Absent: it follows these, sorted by price. */
  weight?: number | undefined;
  /** Interfaces of its provider that it supports; all if absent. */
  apis?: ProviderApi[] | undefined;
  supported_params: SupportedParams;
  streaming: boolean;
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  rate_limit_tpd: number | null;
  /** The fields that the file wrote itself, where the model list filled in the others. */
  written?: string[] | undefined;
}

export const promptCaches = ['auto', 'off'] as const;
type PromptCache = (typeof promptCaches)[number];

export interface ModelDocument {
  id: string;
  display_name: string;
  /** Epoch seconds. */
  created: number;
  context_length: number;
  modalities: string[];
  /** Whether `model: auto` may choose it. */
  auto: boolean;
  /** As of the service if absent. */
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
  /** For keys without one of their own. Null or absent: the default of the stage; locally no limit. */
  key_concurrency?: number | null | undefined;
  queue_ms: number;
  /** Translation of Messages and Responses at providers with another interface. Absent: enabled. */
  translation?: 'enabled' | 'disabled' | undefined;
  /** For every entry without one of its own. Null or absent: none. */
  default_output_tokens?: number | null | undefined;
  /** If absent, clients mark the parts to cache. */
  prompt_cache?: PromptCache | undefined;
  /** Null or absent: none are sent. */
  alerts?: AlertsDocument | null | undefined;
}

interface AlertsDocument {
  url: SecretReference;
  /** Shares of a limit in percent, rising. */
  at: number[];
  /** Key of the signature. Absent: none is sent. */
  secret?: SecretReference | undefined;
}

/** Models that a file takes from the model list, as it names them. */
interface ListedModelsDocument {
  from: string;
  only?: string[] | undefined;
  /** Their ids are their names, without the provider's before it. */
  as?: 'NAME' | undefined;
}

export const guardrailDirections = ['input', 'output'] as const;
export type GuardrailDirection = (typeof guardrailDirections)[number];

interface GuardrailRules {
  id: string;
  on: GuardrailDirection[];
  /** Decides about a call whose check fails or is late. */
  on_failure: 'block' | 'pass';
  /** Of one check. */
  timeout_ms: number;
  /** Characters of a stream that are held back for one check. */
  window_characters: number;
}

export interface HttpGuardrail extends GuardrailRules {
  kind: 'http';
  url: string;
  auth: ProviderAuth;
}

/** A guardrail of Amazon Bedrock. */
export interface BedrockGuardrail extends GuardrailRules {
  kind: 'bedrock';
  /** Id or ARN. */
  guardrail: string;
  version: string;
  region: string;
  /** USD per 1,000 text units, by the names of `usage` in its answers. Absent: its checks have units and no cost. */
  unit_prices?: Record<string, string> | undefined;
}

/** Rules of a guardrail that looks for texts in the process. */
interface FindingRules extends GuardrailRules {
  action: 'block' | 'mask';
}

export interface WordsGuardrail extends FindingRules {
  kind: 'words';
  /** Words and phrases. */
  words: string[];
}

export interface PatternsGuardrail extends FindingRules {
  kind: 'patterns';
  /** `regex`: in the syntax of RE2. A mask says the name. */
  patterns: { name: string; regex: string }[];
}

export const personalTypes = ['email', 'phone', 'card', 'iban', 'ip', 'credential'] as const;
export type PersonalType = (typeof personalTypes)[number];

export interface PersonalGuardrail extends FindingRules {
  kind: 'pii';
  types: PersonalType[];
}

/** Checks the texts of calls. */
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
  /** Workspaces and keys name them. */
  guardrails?: GuardrailDocument[] | undefined;
  /** Items of the model list, some of whose models are in `models`. Absent where the file named each. */
  listed?: ListedModelsDocument[] | undefined;
}
