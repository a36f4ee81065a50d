// Reads the address, the prices and the limits of one item of LiteLLM's `model_list`.
import type { Path } from '../../../shared/configuration/gateway-file/index.ts';
import type { ListedModel, ModelList } from '../../../shared/configuration/model-list/index.ts';
import { type NamedModel, namedModel } from './provider-prefixes.ts';
import type { ImportedProvider, ImportedProviders, ParameterPath } from './providers.ts';
import type { LiteLlmSource, Mapping } from './source.ts';

/** An entry of a model, as the gateway file writes it. */
export type ImportedEntry = Readonly<Record<string, unknown>> & { readonly provider: string };

export interface Deployment {
  /** Name or pattern, as clients call it. */
  readonly modelName: string;
  readonly path: Path;
  readonly named: NamedModel;
  readonly provider: ImportedProvider;
  readonly entry: ImportedEntry;
  /** LiteLLM's own order, in which a lower number is tried first. */
  readonly order: number;
  readonly weight: number | undefined;
}

/** Interfaces by `model_info.mode`; every other mode is chat. */
const apisByMode: Readonly<Record<string, string>> = {
  embedding: 'embeddings',
  image_generation: 'images',
  audio_transcription: 'transcriptions',
  audio_speech: 'speech',
  moderation: 'moderations',
  rerank: 'rerank',
  responses: 'responses',
};
/** Context length of a model that no list knows, if the file has none. */
const contextLengthDefault = 128_000;

export interface ImportContext {
  readonly source: LiteLlmSource;
  readonly providers: ImportedProviders;
  readonly list: ModelList;
}

/** Reads a deployment. Returns undefined if the deployment has no counterpart. A comment then explains why. */
export function readDeployment(context: ImportContext, path: Path): Deployment | undefined {
  const { source, providers } = context;
  const at = parameterPath(source, path);
  const modelName = source.text([...path, 'model_name']);
  const model = source.text(at('model'));
  if (modelName === undefined || model === undefined) {
    source.note(path, 'is left out: its name or its model is missing, or a variable that is not set here');
    return useWhole(source, path);
  }
  const foundModel = namedModel(model, source.text(at('custom_llm_provider')));
  if (foundModel === undefined) {
    source.note(path, `${modelName} is left out: no provider of the gateway speaks for ${model.split('/')[0]}`);
    return useWhole(source, path);
  }
  const api = apiOf(source, path, foundModel.name);
  const isPattern = modelName.includes('*');
  const preferred = isPattern ? /^([a-z0-9][\w.-]*)\/\*$/.exec(modelName)?.[1] : undefined;
  const provider = providers.providerFor(at, foundModel, api, preferred);
  if (provider === undefined) return useWhole(source, path);
  return {
    ...{ modelName, path, named: foundModel, provider },
    entry: entryOf(context, { path, at, named: foundModel, provider, api, isPattern }),
    order: source.number(at('order')) ?? 1,
    weight: source.number(at('weight')) ?? source.number([...path, 'weight']),
  };
}

/** Marks an item as used, so that its fields get no comment of their own. */
function useWhole(source: LiteLlmSource, path: Path): undefined {
  source.use(path);
}

/** Returns the path of a parameter: in the deployment, or in the credential of `credential_list` that it names. */
function parameterPath(source: LiteLlmSource, path: Path): ParameterPath {
  const parameters = [...path, 'litellm_params'];
  const credential = source.text([...parameters, 'litellm_credential_name']);
  const at = source
    .list(['credential_list'])
    .findIndex((item) => credential !== undefined && (item as Mapping | null)?.credential_name === credential);
  if (at === -1) return (name) => [...parameters, name];
  source.use(['credential_list', at, 'credential_name']);
  source.use(['credential_list', at, 'credential_info']);
  const values = ['credential_list', at, 'credential_values'];
  return (name) =>
    source.look([...parameters, name]) === undefined && source.look([...values, name]) !== undefined
      ? [...values, name]
      : [...parameters, name];
}

function apiOf(source: LiteLlmSource, path: Path, name: string): string {
  const mode = source.text([...path, 'model_info', 'mode']);
  if (mode !== undefined) return apisByMode[mode] ?? 'chat-completions';
  if (/embed|bge-|gte-|e5-/i.test(name)) return 'embeddings';
  if (/rerank/i.test(name)) return 'rerank';
  return 'chat-completions';
}

interface EntryInput {
  readonly path: Path;
  readonly at: ParameterPath;
  readonly named: NamedModel;
  readonly provider: ImportedProvider;
  readonly api: string;
  readonly isPattern: boolean;
}

function entryOf({ source, list }: ImportContext, input: EntryInput): ImportedEntry {
  const { path, at, named, provider, api, isPattern } = input;
  const information = (name: string): Path => [...path, 'model_info', name];
  const base = source.text(information('base_model'));
  const listed = listedAs(list, provider, named.name, base);
  const prices = pricesOf(source, [at, information]);
  const limits = {
    rate_limit_rpm: whole(source.number(at('rpm')) ?? source.number(at('rpm_limit'))),
    rate_limit_tpm: whole(source.number(at('tpm')) ?? source.number(at('tpm_limit'))),
  };
  // This id is written by hand at most models; the gateway counts its own.
  source.use(information('id'));
  const bounds = {
    context_length: whole(source.number(information('max_input_tokens')) ?? source.number(information('max_tokens'))),
    max_output_tokens: whole(source.number(information('max_output_tokens'))),
    default_output_tokens: whole(source.number(at('max_tokens'))),
  };
  const common = { provider: provider.id, upstream_model: named.name, ...limits };
  if (listed !== undefined) {
    const other =
      listed.kind === provider.kind && listed.name === named.name
        ? {}
        : { list_model: `${listed.kind}/${listed.name}` };
    return defined({ ...common, ...other, ...prices, ...bounds });
  }
  if (prices === undefined && !isPattern) {
    source.note(path, `no list knows the prices of ${named.name}: they are "0", so budgets are blind to it`);
  }
  const isChat = api === 'chat-completions';
  return defined({
    ...common,
    ...(prices ?? { input_price_per_million: '0', output_price_per_million: '0' }),
    ...bounds,
    apis: provider.kind === undefined ? [api] : undefined,
    context_length: bounds.context_length ?? contextLengthDefault,
    supported_params: isChat ? abilities(source, information) : undefined,
  });
}

function listedAs(
  list: ModelList,
  { kind, region }: ImportedProvider,
  name: string,
  base: string | undefined,
): ListedModel | undefined {
  const baseNamed = base === undefined ? undefined : namedModel(base, undefined);
  const byBase = baseNamed?.provider.kind && list.find(baseNamed.provider.kind, baseNamed.name);
  return byBase || (kind && list.find(kind, name, region));
}

function abilities(source: LiteLlmSource, information: (name: string) => Path): Mapping {
  const says = (name: string, otherwise: boolean): boolean => {
    const value = source.use(information(name));
    return typeof value === 'boolean' ? value : otherwise;
  };
  return {
    tools: says('supports_function_calling', true),
    vision: says('supports_vision', false),
    json_mode: true,
    json_schema: says('supports_response_schema', true),
  };
}

const priceMembers = {
  input_cost_per_token: 'input_price_per_million',
  output_cost_per_token: 'output_price_per_million',
  cache_read_input_token_cost: 'cached_input_price_per_million',
  cache_creation_input_token_cost: 'cache_write_input_price_per_million',
} as const;

/** Converts USD a token to USD a million tokens, with at most six decimals. */
function pricesOf(source: LiteLlmSource, places: readonly ((name: string) => Path)[]): Mapping | undefined {
  const prices = Object.entries(priceMembers).flatMap(([name, member]) => {
    const written = places.map((at) => source.text(at(name))).find((text) => text !== undefined);
    const cost = written === undefined ? Number.NaN : Number(written);
    return Number.isFinite(cost) && cost >= 0 ? [[member, (cost * 1e6).toFixed(6).replace(/\.?0+$/, '')] as const] : [];
  });
  if (prices.length === 0) return undefined;
  return { input_price_per_million: '0', output_price_per_million: '0', ...Object.fromEntries(prices) };
}

const whole = (value: number | undefined): number | undefined =>
  value === undefined ? undefined : Math.max(1, Math.round(value));

const defined = (entry: Mapping & { readonly provider: string }): ImportedEntry =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as ImportedEntry;
