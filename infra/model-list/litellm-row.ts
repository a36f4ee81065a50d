// Reads the vendor of a model and the amounts from a row of LiteLLM's list, in the format of the gateway file.
import type { ListedModel, ProviderKind } from '../../shared/configuration/model-list/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import { usdText } from './usd-text.ts';

export type LitellmModel = Readonly<Record<string, unknown>>;
export type LitellmList = Readonly<Record<string, LitellmModel>>;

interface Origin {
  readonly kind: ProviderKind;
  /** Prefix of some or all of its names. */
  readonly prefix: string;
  /** Interface of its text models, if it differs from the interface of other models of the kind. */
  readonly api?: ProviderApi;
}

/** Origins by their `litellm_provider`. */
const origins: Readonly<Record<string, Origin>> = {
  openai: { kind: 'openai', prefix: '' },
  azure: { kind: 'azure', prefix: 'azure/' },
  anthropic: { kind: 'anthropic', prefix: '' },
  gemini: { kind: 'google', prefix: 'gemini/' },
  'vertex_ai-language-models': { kind: 'vertex', prefix: 'vertex_ai/' },
  'vertex_ai-embedding-models': { kind: 'vertex', prefix: 'vertex_ai/' },
  'vertex_ai-anthropic_models': { kind: 'vertex', prefix: 'vertex_ai/', api: 'messages' },
  bedrock: { kind: 'bedrock', prefix: 'bedrock/' },
  bedrock_converse: { kind: 'bedrock', prefix: 'bedrock/' },
  cohere: { kind: 'cohere', prefix: 'cohere/' },
  cohere_chat: { kind: 'cohere', prefix: 'cohere_chat/' },
  groq: { kind: 'groq', prefix: 'groq/' },
  mistral: { kind: 'mistral', prefix: 'mistral/' },
  deepseek: { kind: 'deepseek', prefix: 'deepseek/' },
  xai: { kind: 'xai', prefix: 'xai/' },
  together_ai: { kind: 'together', prefix: 'together_ai/' },
  fireworks_ai: { kind: 'fireworks', prefix: 'fireworks_ai/' },
  'fireworks_ai-embedding-models': { kind: 'fireworks', prefix: 'fireworks_ai/' },
  cerebras: { kind: 'cerebras', prefix: 'cerebras/' },
  ollama: { kind: 'ollama', prefix: 'ollama/' },
};

/** Patterns of the names that each provider documents; other names are aliases of the list itself. */
const nameForms: Partial<Record<ProviderKind, RegExp>> = {
  azure: /^[^/]+$/,
  openai: /^[^/]+$/,
  // Some names begin with a region, by which prices differ.
  bedrock: /^([a-z]{2}(-[a-z]+)+-\d\/)?[a-z0-9-]+\.[^/@]+$/,
  fireworks: /^accounts\/fireworks\/models\//,
};

export interface NamedRow {
  readonly kind: ProviderKind;
  readonly name: string;
  /** Whether the name has the form that its provider documents. */
  readonly isName: boolean;
  readonly api: ProviderApi | undefined;
}

/** Returns undefined for a provider that belongs to no kind. */
export function nameOf(listName: string, { litellm_provider: provider }: LitellmModel): NamedRow | undefined {
  const origin = origins[String(provider)];
  if (origin === undefined) return undefined;
  const { kind, prefix, api } = origin;
  const name = listName.startsWith(prefix) ? listName.slice(prefix.length) : listName;
  return { kind, name, isName: nameForms[kind]?.test(name) !== false, api };
}

export const positive = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;

export const costOf = (model: LitellmModel, member: string): number | undefined => {
  const value = model[member];
  return typeof value === 'number' && value >= 0 ? value : undefined;
};

export const perMillion = (cost: number): string => usdText(cost * 1_000_000);

/** Returns a cache price. A price of 0 means that the list does not know it. */
export const cachePrice = (cost: number | undefined): string | undefined =>
  cost === undefined || cost === 0 ? undefined : perMillion(cost);

export const endOf = ({ deprecation_date: date }: LitellmModel): Pick<ListedModel, 'endsOn'> => ({
  endsOn: typeof date === 'string' ? date : undefined,
});
