// A gateway with one object of every kind that a request can name, on providers that are never reached.
import type { FileParts } from '../support/gateway-file.ts';

/** A call of this model costs nothing and reserves nothing: most requests go to it, so that the store has less work. */
const free = { input_price_per_million: '0', output_price_per_million: '0' };
const noFeatures = { tools: false, vision: false, json_mode: false, json_schema: false };

export const freeModel = 'free/one';

export const modelIds = [
  freeModel,
  freeModel,
  'free/two-providers',
  'priced/one',
  'plain/no-features',
  'plain/no-stream',
];

export const functionAliases = [
  'gw/function/text',
  'gw/function/text@r1',
  'gw/function/object',
  'gw/function/workflow',
  'gw/function/disabled',
  'gw/function/absent',
];

const user = (content: string) => [{ role: 'user', content }];
const revision = (more: Record<string, unknown>) => ({ id: 'r1', state: 'activated', ...more });
const prompt = (id: string, more: Record<string, unknown>) => ({
  id,
  kind: 'prompt',
  active: 'r1',
  revisions: [revision(more)],
});

export const fuzzFile: FileParts = {
  models: {
    [freeModel]: [{ provider: 'acme', upstream: 'one', more: free }],
    'free/two-providers': [
      { provider: 'acme', upstream: 'two', more: free },
      { provider: 'globex', upstream: 'two', more: free },
    ],
    'priced/one': [{ provider: 'acme', upstream: 'one' }],
    'plain/no-features': [{ provider: 'acme', upstream: 'plain', more: { ...free, supported_params: noFeatures } }],
    'plain/no-stream': [{ provider: 'globex', upstream: 'plain', more: { ...free, streaming: false } }],
  },
  modelMembers: { [freeModel]: { auto: true } },
  providers: {
    acme: { accepts_byok_header: true, data_policy: { zdr: true, data_collection: 'deny', data_residency: ['eu'] } },
    globex: { accepts_byok_header: false },
  },
  workspace: {
    credit_usd: '100000',
    features: { byok: true, presets: true },
    presets: [{ slug: 'terse', versions: [{ version: '1', config: { temperature: 0 } }], designated: '1' }],
    functions: [
      prompt('text', { model: freeModel, messages: user('Say {{input}}'), input: { type: 'text' } }),
      prompt('object', {
        model: freeModel,
        messages: user('{{input.ticket}} {{input.more}}'),
        input: { type: 'object', schema: { type: 'object', required: ['ticket'] } },
      }),
      { ...prompt('disabled', { model: freeModel, messages: user('x') }), status: 'disabled' },
      {
        id: 'workflow',
        kind: 'workflow',
        active: 'r1',
        revisions: [
          revision({
            input: { type: 'object', schema: { type: 'object' } },
            steps: [
              { id: 'a', model: freeModel, messages: user('{{input}}') },
              { id: 'b', model: freeModel, messages: user('{{steps.a.output}}') },
            ],
            output: { step: 'b' },
          }),
        ],
      },
    ],
  },
};
