// Providers that the demo offers when their key is in the environment. Prices are USD per million tokens as published;
// where they matter, write a gateway file (--config).

export interface KnownProvider {
  /** The environment variable that holds its key. */
  readonly variable: string;
  readonly provider: {
    readonly id: string;
    readonly display_name: string;
    readonly base_url: string;
    readonly auth: object;
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
];

function known(
  id: string,
  name: string,
  variable: string,
  baseUrl: string,
  models: readonly KnownModel[],
): KnownProvider {
  return {
    variable,
    provider: { id, display_name: name, base_url: baseUrl, auth: { bearer: { env: variable } } },
    models: models.map((model) => toModel(id, model)),
  };
}

const toModel = (
  provider: string,
  [id, upstream_model, display_name, input, output, context_length, max_output_tokens, vision]: KnownModel,
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
];
