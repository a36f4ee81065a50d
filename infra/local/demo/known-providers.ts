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

interface KnownModel {
  readonly id: string;
  readonly upstream: string;
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly context: number;
  readonly maxOutput: number;
  readonly vision?: boolean;
}

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

const toModel = (provider: string, { vision = false, ...model }: KnownModel) => ({
  id: `${provider}/${model.id}`,
  display_name: model.name,
  created: 1_740_000_000,
  context_length: model.context,
  modalities: vision ? ['text', 'image'] : ['text'],
  providers: [
    {
      provider,
      upstream_model: model.upstream,
      input_price_per_million: model.input,
      output_price_per_million: model.output,
      context_length: model.context,
      max_output_tokens: model.maxOutput,
      supported_params: { tools: true, vision, json_mode: true, json_schema: provider !== 'deepseek' },
    },
  ],
});

export const knownProviders: readonly KnownProvider[] = [
  known('openai', 'OpenAI', 'OPENAI_API_KEY', 'https://api.openai.com/v1', [
    {
      id: 'gpt-4.1',
      upstream: 'gpt-4.1',
      name: 'GPT-4.1',
      input: '2.00',
      output: '8.00',
      context: 1_047_576,
      maxOutput: 32_768,
      vision: true,
    },
    {
      id: 'gpt-4.1-mini',
      upstream: 'gpt-4.1-mini',
      name: 'GPT-4.1 mini',
      input: '0.40',
      output: '1.60',
      context: 1_047_576,
      maxOutput: 32_768,
      vision: true,
    },
  ]),
  known('groq', 'Groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1', [
    {
      id: 'gpt-oss-20b',
      upstream: 'openai/gpt-oss-20b',
      name: 'GPT-OSS 20B',
      input: '0.10',
      output: '0.50',
      context: 131_072,
      maxOutput: 65_536,
    },
    {
      id: 'gpt-oss-120b',
      upstream: 'openai/gpt-oss-120b',
      name: 'GPT-OSS 120B',
      input: '0.15',
      output: '0.75',
      context: 131_072,
      maxOutput: 65_536,
    },
  ]),
  known('mistral', 'Mistral AI', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1', [
    {
      id: 'mistral-small',
      upstream: 'mistral-small-latest',
      name: 'Mistral Small',
      input: '0.10',
      output: '0.30',
      context: 128_000,
      maxOutput: 32_768,
      vision: true,
    },
    {
      id: 'mistral-medium',
      upstream: 'mistral-medium-latest',
      name: 'Mistral Medium',
      input: '0.40',
      output: '2.00',
      context: 128_000,
      maxOutput: 32_768,
      vision: true,
    },
  ]),
  known('deepseek', 'DeepSeek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com/v1', [
    {
      id: 'deepseek-chat',
      upstream: 'deepseek-chat',
      name: 'DeepSeek Chat',
      input: '0.28',
      output: '0.42',
      context: 128_000,
      maxOutput: 8_192,
    },
  ]),
];
