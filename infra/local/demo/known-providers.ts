// Lists the providers that the demo offers if their key is in the environment. The model list has their prices and
// abilities.
import { type ProviderKind, providerKinds } from '../../../shared/configuration/model-list/index.ts';

export interface KnownProvider {
  /** The environment variable of its key. */
  readonly variable: string;
  readonly provider: { readonly id: string; readonly kind: ProviderKind; readonly display_name: string };
  readonly models: readonly { readonly id: string }[];
}

/** Describes a provider. `models` maps the name in the demo to the name at the provider. */
function known(
  id: string,
  kind: ProviderKind,
  display_name: string,
  models: Readonly<Record<string, string>>,
): KnownProvider {
  const { auth } = providerKinds[kind];
  if (auth === undefined || !('env' in auth)) throw new Error(`providers of kind ${kind} have no usual variable`);
  return {
    variable: auth.env,
    provider: { id, kind, display_name },
    models: Object.entries(models).map(([name, upstream_model]) => ({
      id: `${id}/${name}`,
      providers: [{ provider: id, upstream_model }],
    })),
  };
}

export const knownProviders: readonly KnownProvider[] = [
  known('openai', 'openai', 'OpenAI', {
    'gpt-5.4-mini': 'gpt-5.4-mini',
    'gpt-4.1': 'gpt-4.1',
    'gpt-4.1-mini': 'gpt-4.1-mini',
    'text-embedding-3-small': 'text-embedding-3-small',
  }),
  known('groq', 'groq', 'Groq', { 'gpt-oss-20b': 'openai/gpt-oss-20b', 'gpt-oss-120b': 'openai/gpt-oss-120b' }),
  known('mistral', 'mistral', 'Mistral AI', {
    'mistral-small': 'mistral-small-latest',
    'mistral-medium': 'mistral-medium-latest',
  }),
  known('deepseek', 'deepseek', 'DeepSeek', { 'deepseek-chat': 'deepseek-chat' }),
  known('anthropic', 'anthropic', 'Anthropic', {
    'claude-sonnet-4.5': 'claude-sonnet-4-5',
    'claude-haiku-4.5': 'claude-haiku-4-5',
  }),
  known('gemini', 'google', 'Google Gemini', {
    'gemini-2.5-flash': 'gemini-2.5-flash',
    'gemini-2.5-flash-lite': 'gemini-2.5-flash-lite',
  }),
];
