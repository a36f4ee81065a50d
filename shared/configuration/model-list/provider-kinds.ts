// Lists the common values of providers of a kind. A gateway file that names the kind need not write them; written
// values take precedence.
import type { ProviderApi } from '../../foundation/constants/index.ts';

export const providerKindNames = [
  'openai',
  'azure',
  'anthropic',
  'google',
  'vertex',
  'bedrock',
  'cohere',
  'groq',
  'mistral',
  'deepseek',
  'xai',
  'openrouter',
  'together',
  'fireworks',
  'cerebras',
  'ollama',
  'vllm',
] as const;
export type ProviderKind = (typeof providerKindNames)[number];

interface KindDefaults {
  /**
   * Base URL. Absent if each provider has an address of its own, which the file has to write; `example` shows its
   * form.
   */
  readonly baseUrl?: string | ((region: string) => string);
  readonly example?: string;
  readonly apis: readonly ProviderApi[];
  /** Authentication, with the usual name of its variable or secret. Absent if the provider needs no key. */
  readonly auth?:
    | { readonly scheme: 'bearer'; readonly env: string }
    | { readonly scheme: 'header'; readonly name: string; readonly env: string }
    /** Requests are signed with the role of the process. */
    | { readonly scheme: 'sigv4'; readonly service: string }
    /** The variable or secret has no usual name. */
    | { readonly scheme: 'written'; readonly example: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly reasoningStyle?: 'effort' | 'object' | 'none';
  /** False if the provider refuses `stream_options`, and reports usage without it. */
  readonly streamUsage?: false;
  /**
   * Interfaces for which the provider has an address, in addition to the usual interfaces. Absent: any interface, at an
   * address that the file writes.
   */
  readonly furtherApis?: readonly ProviderApi[];
  /** Set if names of models are those of the account's own deployments. */
  readonly namesDeployments?: true;
}

const chat: readonly ProviderApi[] = ['chat-completions'];
const chatAndEmbeddings: readonly ProviderApi[] = ['chat-completions', 'embeddings'];
const openaiApis: readonly ProviderApi[] = [
  'chat-completions',
  'responses',
  'embeddings',
  'images',
  'speech',
  'transcriptions',
];

export const providerKinds: Readonly<Record<ProviderKind, KindDefaults>> = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    apis: [...openaiApis, 'moderations'],
    auth: { scheme: 'bearer', env: 'OPENAI_API_KEY' },
  },
  azure: {
    example: 'https://RESOURCE.openai.azure.com/openai/v1',
    apis: openaiApis,
    auth: { scheme: 'header', name: 'api-key', env: 'AZURE_OPENAI_API_KEY' },
    namesDeployments: true,
  },
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    apis: ['messages'],
    auth: { scheme: 'header', name: 'x-api-key', env: 'ANTHROPIC_API_KEY' },
    headers: { 'anthropic-version': '2023-06-01' },
  },
  google: {
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    apis: ['generate-content', 'embeddings', 'images'],
    auth: { scheme: 'header', name: 'x-goog-api-key', env: 'GEMINI_API_KEY' },
  },
  vertex: {
    example: 'https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/publishers/google',
    apis: ['generate-content', 'embeddings', 'images'],
    furtherApis: ['messages'],
    auth: {
      scheme: 'written',
      example: '{ gcp: { env: NAME } }, with the JSON of a service account in the variable NAME',
    },
  },
  bedrock: {
    baseUrl: (region) => `https://bedrock-runtime.${region}.amazonaws.com`,
    apis: ['converse', 'embeddings', 'rerank', 'images'],
    auth: { scheme: 'sigv4', service: 'bedrock' },
  },
  cohere: {
    baseUrl: 'https://api.cohere.com',
    apis: [...chatAndEmbeddings, 'rerank'],
    furtherApis: [],
    auth: { scheme: 'bearer', env: 'COHERE_API_KEY' },
  },
  groq: {
    baseUrl: 'https://api.groq.com/openai/v1',
    apis: [...chat, 'speech', 'transcriptions'],
    auth: { scheme: 'bearer', env: 'GROQ_API_KEY' },
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    apis: [...chatAndEmbeddings, 'moderations', 'transcriptions'],
    auth: { scheme: 'bearer', env: 'MISTRAL_API_KEY' },
    streamUsage: false,
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com/v1',
    apis: chat,
    auth: { scheme: 'bearer', env: 'DEEPSEEK_API_KEY' },
  },
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    apis: ['chat-completions', 'responses'],
    auth: { scheme: 'bearer', env: 'XAI_API_KEY' },
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    apis: chatAndEmbeddings,
    auth: { scheme: 'bearer', env: 'OPENROUTER_API_KEY' },
    reasoningStyle: 'object',
  },
  together: {
    baseUrl: 'https://api.together.xyz/v1',
    apis: [...chatAndEmbeddings, 'rerank', 'speech', 'transcriptions'],
    auth: { scheme: 'bearer', env: 'TOGETHER_API_KEY' },
  },
  fireworks: {
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    apis: [...chatAndEmbeddings, 'rerank'],
    auth: { scheme: 'bearer', env: 'FIREWORKS_API_KEY' },
  },
  cerebras: {
    baseUrl: 'https://api.cerebras.ai/v1',
    apis: chat,
    auth: { scheme: 'bearer', env: 'CEREBRAS_API_KEY' },
  },
  ollama: {
    example: 'http://127.0.0.1:11434/v1',
    apis: chatAndEmbeddings,
  },
  vllm: {
    example: 'http://127.0.0.1:8000/v1',
    apis: [...chatAndEmbeddings, 'rerank', 'transcriptions'],
  },
};
