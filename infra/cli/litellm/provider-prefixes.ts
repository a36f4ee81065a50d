// Lists LiteLLM's names of providers, which are prefixes of `litellm_params.model`. Source: its pages of providers
// (docs.litellm.ai/docs/providers), November 2026.
import type { ProviderKind } from '../../../shared/configuration/model-list/index.ts';

interface Prefix {
  /** Kind of the provider; absent for an address that supports OpenAI's interfaces. */
  readonly kind?: ProviderKind;
  /** The variable that LiteLLM reads if the file names none. */
  readonly env?: string;
  readonly baseUrl?: string;
  /** Path that is appended to the address of the file if the address does not end in it. */
  readonly path?: string;
}

const prefixOf = (kind: ProviderKind, env: string): Prefix => ({ kind, env });
const compatible = (baseUrl: string, env: string): Prefix => ({ baseUrl, env });

const prefixes: Readonly<Record<string, Prefix>> = {
  openai: prefixOf('openai', 'OPENAI_API_KEY'),
  'openai/responses': prefixOf('openai', 'OPENAI_API_KEY'),
  azure: { kind: 'azure', env: 'AZURE_API_KEY', path: '/openai/v1' },
  'azure/responses': { kind: 'azure', env: 'AZURE_API_KEY', path: '/openai/v1' },
  anthropic: prefixOf('anthropic', 'ANTHROPIC_API_KEY'),
  gemini: prefixOf('google', 'GEMINI_API_KEY'),
  vertex_ai: { kind: 'vertex' },
  vertex_ai_beta: { kind: 'vertex' },
  bedrock: { kind: 'bedrock' },
  'bedrock/converse': { kind: 'bedrock' },
  'bedrock/invoke': { kind: 'bedrock' },
  cohere: prefixOf('cohere', 'COHERE_API_KEY'),
  cohere_chat: prefixOf('cohere', 'COHERE_API_KEY'),
  groq: prefixOf('groq', 'GROQ_API_KEY'),
  mistral: prefixOf('mistral', 'MISTRAL_API_KEY'),
  deepseek: prefixOf('deepseek', 'DEEPSEEK_API_KEY'),
  xai: prefixOf('xai', 'XAI_API_KEY'),
  openrouter: prefixOf('openrouter', 'OPENROUTER_API_KEY'),
  together_ai: prefixOf('together', 'TOGETHERAI_API_KEY'),
  fireworks_ai: prefixOf('fireworks', 'FIREWORKS_AI_API_KEY'),
  cerebras: prefixOf('cerebras', 'CEREBRAS_API_KEY'),
  ollama: { kind: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', path: '/v1' },
  ollama_chat: { kind: 'ollama', baseUrl: 'http://127.0.0.1:11434/v1', path: '/v1' },
  hosted_vllm: { kind: 'vllm', env: 'HOSTED_VLLM_API_KEY' },
  azure_ai: { env: 'AZURE_AI_API_KEY' },
  custom_openai: { env: 'OPENAI_API_KEY' },
  lm_studio: { env: 'LM_STUDIO_API_KEY' },
  llamafile: {},
  litellm_proxy: { env: 'LITELLM_PROXY_API_KEY', path: '/v1' },
  dashscope: compatible('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
  deepinfra: compatible('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  hyperbolic: compatible('https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY'),
  moonshot: compatible('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  nebius: compatible('https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'),
  novita: compatible('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),
  nvidia_nim: compatible('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  perplexity: compatible('https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'),
  sambanova: compatible('https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'),
  volcengine: compatible('https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY'),
  zai: compatible('https://api.z.ai/api/paas/v4', 'ZAI_API_KEY'),
};

/** Providers that LiteLLM assumes for a name without a prefix. */
const bareNames: readonly (readonly [RegExp, string])[] = [
  [
    /^(gpt-|chatgpt-|o[1345](-|$)|text-embedding-(3|ada)|dall-e|whisper-|tts-|omni-moderation|text-moderation)/,
    'openai',
  ],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'vertex_ai'],
  [/^(command|embed|rerank)-/, 'cohere'],
  [/^deepseek-/, 'deepseek'],
  [/^mistral-/, 'mistral'],
  [/^grok-/, 'xai'],
  [/^([a-z]{2,4}\.)?(anthropic|amazon|meta|cohere|mistral)\.[\w.:-]+$/, 'bedrock'],
];

export interface NamedModel {
  /** The prefix as LiteLLM writes it. */
  readonly prefix: string;
  readonly provider: Prefix;
  /** The provider's own name of the model, or a pattern. */
  readonly name: string;
}

/** Returns undefined for a provider that has no counterpart. */
export function namedModel(model: string, custom: string | undefined): NamedModel | undefined {
  const written = custom === undefined || model.startsWith(`${custom}/`) ? model : `${custom}/${model}`;
  const [first = '', second = '', ...rest] = written.split('/');
  const longer = `${first}/${second}`;
  if (rest.length > 0 && prefixes[longer] !== undefined) {
    return { prefix: first, provider: prefixes[longer], name: rest.join('/') };
  }
  const provider = prefixes[first];
  if (provider !== undefined && second !== '') {
    const name = written.slice(first.length + 1);
    // A region may precede the name of a model of Bedrock.
    return {
      prefix: first,
      provider,
      name: provider.kind === 'bedrock' ? name.replace(/^[a-z]{2}(-[a-z]+)+-\d\//, '') : name,
    };
  }
  const [, prefix] = bareNames.find(([shape]) => shape.test(written)) ?? [];
  const bare = prefix === undefined ? undefined : prefixes[prefix];
  return prefix === undefined || bare === undefined ? undefined : { prefix, provider: bare, name: written };
}

/** Returns the region that precedes the name of a model of Bedrock. */
export const regionInName = (model: string): string | undefined =>
  /^bedrock\/(?:converse\/|invoke\/)?([a-z]{2}(?:-[a-z]+)+-\d)\//.exec(model)?.[1];
