// Providers that the demo offers when their key is in the environment. Prices are USD per million tokens as published;
// where they matter, write a gateway file (--config).
import type { ProviderApi } from '../../../shared/foundation/constants/index.ts';

export interface KnownProvider {
  /** The environment variable that holds its key. */
  readonly variable: string;
  readonly provider: {
    readonly id: string;
    readonly display_name: string;
    readonly base_url: string;
    readonly auth: object;
    readonly apis?: readonly ProviderApi[];
  };
  readonly models: readonly { readonly id: string }[];
}

/** Prices are those of a million tokens. */
type KnownModel = readonly [
  id: string,
  upstreamModel: string,
  name: string,
  inputPrice: string,
  outputPrice: string,
  contextLength: number,
  outputTokensMax: number,
  vision?: 'vision',
  /** Where the provider's cache has prices of its own: of input that is read from it, written into it, and kept for an hour. */
  cachePrices?: readonly [read: string, write?: string, writeForAnHour?: string],
];

/** What differs from a chat-completions provider whose key is a bearer. */
interface OwnForm {
  readonly apis: readonly ProviderApi[];
  readonly keyHeader: string;
}

function known(
  id: string,
  name: string,
  variable: string,
  baseUrl: string,
  models: readonly KnownModel[],
  own?: OwnForm,
): KnownProvider {
  const auth = own === undefined ? { bearer: { env: variable } } : { header: { name: own.keyHeader, env: variable } };
  const apis = own === undefined ? {} : { apis: own.apis };
  return {
    variable,
    provider: { id, display_name: name, base_url: baseUrl, auth, ...apis },
    models: models.map((model) => toModel(id, model)),
  };
}

const toModel = (
  provider: string,
  [id, upstream_model, display_name, input, output, context_length, max_output_tokens, vision, cachePrices]: KnownModel,
) => ({
  id: `${provider}/${id}`,
  display_name,
  created: 1_740_000_000,
  context_length,
  modalities: vision ? ['text', 'image'] : ['text'],
  providers: [
    {
      provider,
      upstream_model,
      input_price_per_million: input,
      output_price_per_million: output,
      ...(cachePrices === undefined ? {} : priceMembers(cachePrices)),
      context_length,
      max_output_tokens,
      supported_params: {
        tools: true,
        vision: vision !== undefined,
        json_mode: true,
        json_schema: provider !== 'deepseek',
      },
    },
  ],
});

const priceMembers = ([read, write, writeForAnHour]: readonly [string, string?, string?]) => ({
  cached_input_price_per_million: read,
  ...(write === undefined ? {} : { cache_write_input_price_per_million: write }),
  ...(writeForAnHour === undefined ? {} : { cache_write_1h_input_price_per_million: writeForAnHour }),
});

const anthropic = { apis: ['messages'], keyHeader: 'x-api-key' } as const;
const gemini = { apis: ['generate-content'], keyHeader: 'x-goog-api-key' } as const;

export const knownProviders: readonly KnownProvider[] = [
  known('openai', 'OpenAI', 'OPENAI_API_KEY', 'https://api.openai.com/v1', [
    ['gpt-4.1', 'gpt-4.1', 'GPT-4.1', '2.00', '8.00', 1_047_576, 32_768, 'vision'],
    ['gpt-4.1-mini', 'gpt-4.1-mini', 'GPT-4.1 mini', '0.40', '1.60', 1_047_576, 32_768, 'vision'],
  ]),
  known('groq', 'Groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1', [
    ['gpt-oss-20b', 'openai/gpt-oss-20b', 'GPT-OSS 20B', '0.10', '0.50', 131_072, 65_536],
    ['gpt-oss-120b', 'openai/gpt-oss-120b', 'GPT-OSS 120B', '0.15', '0.75', 131_072, 65_536],
  ]),
  known('mistral', 'Mistral AI', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1', [
    ['mistral-small', 'mistral-small-latest', 'Mistral Small', '0.10', '0.30', 128_000, 32_768, 'vision'],
    ['mistral-medium', 'mistral-medium-latest', 'Mistral Medium', '0.40', '2.00', 128_000, 32_768, 'vision'],
  ]),
  known('deepseek', 'DeepSeek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/v1', [
    ['deepseek-chat', 'deepseek-chat', 'DeepSeek Chat', '0.28', '0.42', 128_000, 8_192],
  ]),
  known(
    'anthropic',
    'Anthropic',
    'ANTHROPIC_API_KEY',
    'https://api.anthropic.com/v1',
    [
      [
        'claude-sonnet-4.5',
        'claude-sonnet-4-5',
        'Claude Sonnet 4.5',
        '3.00',
        '15.00',
        200_000,
        64_000,
        'vision',
        ['0.30', '3.75', '6.00'],
      ],
      [
        'claude-haiku-4.5',
        'claude-haiku-4-5',
        'Claude Haiku 4.5',
        '1.00',
        '5.00',
        200_000,
        64_000,
        'vision',
        ['0.10', '1.25', '2.00'],
      ],
    ],
    anthropic,
  ),
  known(
    'gemini',
    'Google Gemini',
    'GEMINI_API_KEY',
    'https://generativelanguage.googleapis.com/v1beta',
    [
      [
        'gemini-2.5-flash',
        'gemini-2.5-flash',
        'Gemini 2.5 Flash',
        '0.30',
        '2.50',
        1_048_576,
        65_536,
        'vision',
        ['0.03'],
      ],
      [
        'gemini-2.5-flash-lite',
        'gemini-2.5-flash-lite',
        'Gemini 2.5 Flash-Lite',
        '0.10',
        '0.40',
        1_048_576,
        65_536,
        'vision',
        ['0.01'],
      ],
    ],
    gemini,
  ),
];
