// Builds the gateway file of the demo, with models of the built-in simulator and of well-known providers. The file is
// checked like any other file.
import { stringify } from 'yaml';
import { personalTypes } from '../../../shared/configuration/catalogue/index.ts';
import { extraNames, taskInterfaceIds } from '../../../shared/foundation/constants/index.ts';
import { type KnownProvider, knownProviders } from './known-providers.ts';

/**
 * Used only while every provider is simulated, so that no money can be spent with the key. The key has a checksum like
 * any other key.
 */
export const publishedKey = 'sk-gw-demodemodemodemo-demodemodemodemodemodemodemodemodemodemokey2Jc7YM';
export const demoWorkspaceId = 'demo';

const demoModel = 'demo/chat';

interface DemoFileOptions {
  /** Base URL of one simulated provider. */
  readonly simulatorUrlOf: (provider: string) => string;
  readonly real: readonly KnownProvider[];
  readonly key: { readonly name: string; readonly key: string };
  /** False for a stored workspace, in which an operator's changes are preserved. */
  readonly isNew: boolean;
}

export function demoGatewayFile({ simulatorUrlOf, real, key, isNew }: DemoFileOptions): string {
  return stringify({
    providers: [
      ...simulatedProviders.map((provider) => ({ ...provider, base_url: simulatorUrlOf(provider.id) })),
      ...real.map(({ provider }) => provider),
    ],
    guardrails: [
      { id: 'demo-words', kind: 'http', url: `${simulatorUrlOf('guard')}/guardrail` },
      { id: 'demo-personal', kind: 'pii', types: [...personalTypes], action: 'mask' },
    ],
    models: [...simulatedModels, ...real.flatMap(({ models }) => models)],
    workspaces: [{ id: demoWorkspaceId, ...(isNew ? demoWorkspace : {}), keys: [key] }],
  });
}

/** A workspace with one function of each kind, so that `gw/function/…` can be tried at once. */
const demoWorkspace = {
  credit_usd: '100.00',
  features: { byok: true, presets: true },
  presets: [{ slug: 'terse', versions: [{ version: '1', config: { max_tokens: 12 } }], designated: '1' }],
  functions: [
    {
      id: 'label-ticket',
      kind: 'prompt',
      active: 'r1',
      revisions: [
        {
          id: 'r1',
          state: 'activated',
          model: demoModel,
          fallback_models: ['demo/tools'],
          messages: [
            { role: 'system', content: 'You label support tickets.' },
            { role: 'user', content: '{{input.ticket}}' },
          ],
          options: { max_tokens: 64 },
          input: {
            type: 'object',
            schema: { type: 'object', required: ['ticket'], properties: { ticket: { type: 'string' } } },
          },
        },
      ],
    },
    {
      id: 'two-views',
      kind: 'workflow',
      active: 'r1',
      revisions: [
        {
          id: 'r1',
          state: 'activated',
          input: { type: 'object', schema: { type: 'object', required: ['topic'] } },
          steps: [
            viewStep('for', 'Argue for {{input.topic}}.'),
            viewStep('against', 'Argue against {{input.topic}}.'),
            viewStep('both', 'Compare: {{steps.for.output}} And: {{steps.against.output}}'),
          ],
          output: { step: 'both' },
        },
      ],
    },
  ],
};

function viewStep(id: string, content: string) {
  return { id, model: demoModel, messages: [{ role: 'user', content }], options: { max_tokens: 64 } };
}

const simulated = { auth: 'none', accepts_byok_header: true };
/** Interfaces on which every text model is available. */
const wordApis = ['chat-completions', 'messages', 'responses'];
const simulatedProviders = [
  {
    id: 'acme',
    display_name: 'Acme AI (simulated)',
    ...simulated,
    apis: wordApis,
    data_policy: { zdr: true, data_collection: 'deny', data_residency: ['eu'] },
  },
  {
    id: 'globex',
    display_name: 'Globex (simulated)',
    ...simulated,
    apis: wordApis,
    data_policy: { data_collection: 'allow', data_residency: ['us'] },
  },
  {
    id: 'initech',
    display_name: 'Initech (simulated)',
    ...simulated,
    apis: [...taskInterfaceIds],
  },
];

/** Abilities of every simulated model. */
const abilities = {
  context_length: 128_000,
  max_output_tokens: 16_384,
  supported_params: {
    tools: true,
    vision: true,
    json_mode: true,
    json_schema: true,
    // A simulated provider costs nothing.
    extras: extraNames,
  },
};

const onProvider = (provider: string, upstream_model: string, input: string, output: string) => ({
  provider,
  upstream_model,
  input_price_per_million: input,
  output_price_per_million: output,
  ...abilities,
});

const embedding = {
  provider: 'initech',
  upstream_model: 'echo',
  input_price_per_million: '0.02',
  output_price_per_million: '0.00',
  context_length: 8_192,
  // A vector is not an output that is paid for.
  max_output_tokens: 1,
  supported_params: {},
  streaming: false,
};

const reranking = {
  ...embedding,
  apis: ['rerank'],
  input_price_per_million: '0.00',
  price_per_request: '0.002',
  context_length: 4_096,
};
const speech = {
  ...embedding,
  apis: ['speech'],
  input_price_per_million: '0.00',
  input_price_per_character: '0.000015',
  context_length: 4_096,
};
const transcription = {
  ...embedding,
  apis: ['transcriptions'],
  input_price_per_million: '0.00',
  input_price_per_second: '0.0001',
  context_length: 4_096,
  streaming: true,
};
const moderation = { ...embedding, apis: ['moderations'], input_price_per_million: '0.00', context_length: 32_768 };

const imaging = {
  ...embedding,
  apis: ['images'],
  input_price_per_million: '0.00',
  output_price_per_image: '0.04',
  streaming: true,
};

const model = (id: string, display_name: string, providers: unknown[], more: Record<string, unknown> = {}) => ({
  id,
  display_name,
  created: 1_760_000_000,
  context_length: abilities.context_length,
  modalities: ['text', 'image'],
  providers,
  ...more,
});

const simulatedModels = [
  model(
    'demo/chat',
    'Demo chat',
    [onProvider('acme', 'echo', '0.25', '1.00'), onProvider('globex', 'echo', '0.30', '1.20')],
    { auto: true },
  ),
  model('demo/reasoning', 'Demo reasoning', [onProvider('acme', 'reasoning', '0.50', '2.00')]),
  model('demo/tools', 'Demo tools', [onProvider('globex', 'tools', '0.25', '1.00')]),
  model('demo/fallback', 'Demo fallback: the cheaper provider always fails', [
    onProvider('globex', 'error-500', '0.10', '0.40'),
    onProvider('acme', 'echo', '0.25', '1.00'),
  ]),
  model('demo/embedding', 'Demo embedding', [{ ...embedding, apis: ['embeddings'] }], {
    context_length: 8_192,
    modalities: ['text'],
  }),
  model('demo/image', 'Demo image', [imaging], { context_length: 8_192, modalities: ['text', 'image'] }),
  model('demo/moderation', 'Demo moderation', [moderation], { context_length: 32_768 }),
  model('demo/rerank', 'Demo rerank', [reranking], { modalities: ['text'] }),
  model('demo/speech', 'Demo speech', [speech], { modalities: ['text'] }),
  model('demo/transcription', 'Demo transcription', [transcription], { modalities: ['audio'] }),
];

/**
 * True if a stored catalogue can belong to a demo of this or another release, because this demo has all its providers
 * and models.
 */
export function isDemoCatalogue({
  providers,
  models,
}: {
  readonly providers: readonly { readonly id: string; readonly display_name: string }[];
  readonly models: readonly { readonly id: string }[];
}): boolean {
  const providerIds = [...simulatedProviders, ...knownProviders.map(({ provider }) => provider)].map(({ id }) => id);
  const modelIds = [...simulatedModels, ...knownProviders.flatMap((known) => known.models)].map(({ id }) => id);
  // A gateway file may name the same real providers, but not the simulated providers. Another release may have had
  // fewer.
  const hasSimulated = simulatedProviders.some(({ id, display_name }) =>
    providers.some((provider) => provider.id === id && provider.display_name === display_name),
  );
  return (
    hasSimulated &&
    providers.every(({ id }) => providerIds.includes(id)) &&
    models.every(({ id }) => modelIds.includes(id))
  );
}
