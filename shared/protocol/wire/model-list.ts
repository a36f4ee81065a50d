// Defines the wire objects of GET /v1/models.
import { autoModelId, brand, type InterfaceId } from '../../foundation/constants/index.ts';

/** Prices in USD per unit, for everything that is not priced by tokens; a unit without such a price is absent. */
export interface UnitPricesObject {
  output_price_per_image?: string;
  /** Prices by `SIZE/QUALITY`, `SIZE`, or `default`. */
  image_prices?: Record<string, string>;
  input_price_per_character?: string;
  input_price_per_second?: string;
  price_per_request?: string;
}

export interface ProviderEntryObject extends UnitPricesObject {
  provider: string;
  provider_display_name: string;
  /** Price as a decimal string, USD per million tokens. */
  input_price_per_million: string;
  output_price_per_million: string;
  context_length: number;
  routable: boolean;
  supported_params: { tools: boolean; vision: boolean; json_mode: boolean; json_schema: boolean };
  /** Null if no limit of this kind is set. */
  rate_limit_rpm: number | null;
  rate_limit_tpm: number | null;
  rate_limit_tpd: number | null;
  max_output_tokens: number;
}

export interface StatsObject {
  median_latency_ms: number;
  /** Throughput as a decimal string. */
  throughput_rpm: string;
  /** Share as a decimal string. */
  uptime: string;
}

export interface ModelObject extends UnitPricesObject {
  id: string;
  object: 'model';
  created: number;
  owned_by: typeof brand;
  display_name: string;
  context_length: number;
  input_price_per_million: string;
  output_price_per_million: string;
  modalities: string[];
  routable: boolean;
  /** The interfaces that serve it; absent if chat completions alone do. */
  apis?: InterfaceId[];
  /** Interfaces, chat completions among them, for which every provider of the model needs a translation. */
  translated_apis?: InterfaceId[];
  providers: ProviderEntryObject[];
  stats: StatsObject;
}

/** The entry of the automatic choice, which is always first and has no other fields. */
export const autoModelObject = { id: autoModelId, object: 'model', created: 0, owned_by: brand } as const;

/** Statistics without data. */
export const noStats: StatsObject = { median_latency_ms: 0, throughput_rpm: '0', uptime: '1' };

/** A stored function that a call without a revision would run. It is listed only on request. */
export interface FunctionModelObject {
  /** `gw/function/ID`, the value for `model` of a chat completion. */
  id: string;
  object: 'model';
  /** Time at which its active revision was activated. */
  created: number;
  owned_by: typeof brand;
  display_name: string;
  kind: 'prompt' | 'workflow';
  revision: string;
  /** ISO instant of its expiry. */
  expires_at: string | null;
}

/**
 * The fields of `ModelInfo` in Anthropic's SDK (1.12.0). Values unknown to the gateway are null, as in Anthropic's own
 * list.
 */
export interface AnthropicModelObject {
  type: 'model';
  id: string;
  display_name: string;
  /** ISO instant of its creation. */
  created_at: string;
  lifecycle: 'active';
  line: null;
  max_input_tokens: number | null;
  max_tokens: number | null;
  capabilities: null;
  deprecated_at: null;
  retires_at: null;
}

export interface AnthropicModelPage {
  data: AnthropicModelObject[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

/** The fields of `Model` in Google's API v1beta (ai.google.dev/api/models, November 2026) that the gateway knows. */
export interface GoogleModelObject {
  /** Name of the form `models/{id}`. */
  name: string;
  baseModelId: string;
  version: string;
  displayName: string;
  description: string;
  inputTokenLimit?: number;
  outputTokenLimit?: number;
  supportedGenerationMethods: string[];
}

export interface GoogleModelPage {
  models: GoogleModelObject[];
  nextPageToken?: string;
}

export type ModelListItem = typeof autoModelObject | ModelObject | FunctionModelObject;

export interface ModelListObject {
  object: 'list';
  data: [typeof autoModelObject, ...(ModelObject | FunctionModelObject)[]];
}
