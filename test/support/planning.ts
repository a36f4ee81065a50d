// Inputs of planning: providers and models in shorthand, requests as a client writes them.
import {
  type Candidate,
  type Catalogue,
  loadCatalogue,
  type ModelDocument,
  type ModelProviderDocument,
  type ProviderDocument,
} from '../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../shared/errors/index.ts';
import { type ChatRequest, readChatRequest } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { makePlan, type PlanInput } from '../../shared/routing/planner/index.ts';

export const providerOf = (id: string, more: Partial<ProviderDocument> = {}): ProviderDocument => ({
  id,
  display_name: id,
  status: 'enabled',
  base_url: `https://${id}.example/v1`,
  apis: ['chat-completions'],
  auth: 'none',
  accepts_byok_header: true,
  data_policy: {},
  idle_timeout_ms: 15_000,
  connect_timeout_ms: 3_000,
  reasoning_style: 'effort',
  reasoning_tokens: 'included',
  ...more,
});

export const ableTo = { tools: true, vision: true, json_mode: true, json_schema: true };

export const entryOf = (provider: string, more: Partial<ModelProviderDocument> = {}): ModelProviderDocument => ({
  provider,
  upstream_model: `${provider}-upstream`,
  input_price_per_million: '1',
  output_price_per_million: '1',
  context_length: 100_000,
  max_output_tokens: 4_096,
  supported_params: ableTo,
  streaming: true,
  rate_limit_rpm: null,
  rate_limit_tpm: null,
  rate_limit_tpd: null,
  ...more,
});

export const modelOf = (id: string, more: Partial<ModelDocument> = {}): ModelDocument => ({
  id,
  display_name: id,
  created: 0,
  context_length: 100_000,
  modalities: ['text'],
  auto: false,
  providers: [],
  ...more,
});

/** Returns both prices of an entry. */
export const priced = (input: string | null, output = input): Partial<ModelProviderDocument> => ({
  input_price_per_million: input,
  output_price_per_million: output,
});

export const catalogueOf = (models: ModelDocument[], providers: ProviderDocument[]): Catalogue =>
  loadCatalogue(
    { service: { function_execution: 'enabled', function_concurrency: null, queue_ms: 0 }, providers, models },
    'v1',
  );

/** Returns the facts for one model `m`; every provider of the entries exists, and so does each of `providers`. */
export function planFactsOf(entries: ModelProviderDocument[], providers: ProviderDocument[] = []): PlanInput {
  const known = new Set(providers.map(({ id }) => id));
  const others = entries.filter(({ provider }) => !known.has(provider)).map(({ provider }) => providerOf(provider));
  return factsOf(catalogueOf([modelOf('m', { providers: entries })], [...providers, ...others]));
}

export const factsOf = (catalogue: Catalogue): PlanInput => ({
  catalogue,
  workspace: { models: 'all', data_policy: {} },
  isConfigured: () => true,
  statsOf: () => undefined,
  isCooling: () => false,
  session: () => 'one',
});

const messages = [{ role: 'user', content: 'Hello' }];

/** Returns a minimal request for the model `m` with `members` added. */
export function requestOf(members: Record<string, unknown> = {}): ChatRequest {
  const request = readChatRequest({ model: 'm', messages, ...members });
  if (request instanceof GatewayError) throw request;
  return request;
}

/** Returns the providers in the order of attempts, or the code of the error. For `auto`, it names the models too. */
export function planned(members: Record<string, unknown>, input: PlanInput): string[] | string {
  const plan = makePlan(requestOf(members), input);
  if (plan instanceof GatewayError) return plan.code;
  return plan.map(({ model, provider }) => (members.model === 'auto' ? `${model.id}@${provider.id}` : provider.id));
}

export const isOneOf =
  (...ids: readonly string[]) =>
  ({ provider }: Candidate): boolean =>
    ids.includes(provider.id);
