// The gateway file of a run without --config: models of the built-in simulator, and of every well-known provider whose
// key is in the environment. What this makes goes through the same checks as anybody's file.
import { stringify } from 'yaml';
import { knownProviders } from './known-providers.ts';

/** For this demo only: it listens on 127.0.0.1, and its money is simulated. Checksum as in any key. */
export const demoKey = 'sk-gw-demodemodemodemo-demodemodemodemodemodemodemodemodemodemokey2Jc7YM';
export const demoModel = 'demo/chat';

type Variables = Readonly<Record<string, string | undefined>>;

/** `simulatorUrlOf` gives the base URL of one simulated provider. */
export function demoGatewayFile(simulatorUrlOf: (provider: string) => string, variables: Variables): string {
  const real = knownProviders.filter(({ variable }) => (variables[variable] ?? '') !== '');
  return stringify({
    providers: [
      simulatedProvider('acme', 'Acme AI (simulated)', simulatorUrlOf, {
        zdr: true,
        data_collection: 'deny',
        data_residency: ['eu'],
      }),
      simulatedProvider('globex', 'Globex (simulated)', simulatorUrlOf, {
        data_collection: 'allow',
        data_residency: ['us'],
      }),
      ...real.map(({ provider }) => provider),
    ],
    models: [...simulatedModels, ...real.flatMap(({ models }) => models)],
    workspaces: [demoWorkspace],
  });
}

/** One function of each kind, so that `gw/function/…` can be tried at once. */
const demoWorkspace = {
  id: 'demo',
  credit_usd: '100.00',
  features: { byok: true, presets: true },
  keys: [{ name: 'demo', key: demoKey }],
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
            viewStep('both', 'Weigh: {{steps.for.output}} And: {{steps.against.output}}'),
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

function simulatedProvider(
  id: string,
  display_name: string,
  urlOf: (provider: string) => string,
  data_policy: Record<string, unknown>,
) {
  return { id, display_name, base_url: urlOf(id), auth: 'none', accepts_byok_header: true, data_policy };
}

/** What every simulated model can do. */
const abilities = {
  context_length: 128_000,
  max_output_tokens: 16_384,
  supported_params: { tools: true, vision: true, json_mode: true, json_schema: true },
};

const onProvider = (provider: string, upstream_model: string, input: string, output: string) => ({
  provider,
  upstream_model,
  input_price_per_million: input,
  output_price_per_million: output,
  ...abilities,
});

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
];
