// The gateway of the fault suite: each behaviour of the simulator as a model of its own, alone and with a good provider
// after it, and a workspace for each way of paying.
import { behaviourNames } from '../../infra/local/simulator/index.ts';
import { createApiKey } from '../../shared/configuration/keys/index.ts';
import type { ProviderApi } from '../../shared/foundation/constants/index.ts';
import type { Randomness } from '../../shared/foundation/ids/index.ts';
import type { FileParts, Route } from '../support/gateway-file.ts';
import { type SpokenInterface, spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';

/** Parameters without which a behaviour would last longer than its effect needs. */
const parameters: Readonly<Record<string, string>> = {
  slow: 'slow:20',
  'slow-chunks': 'slow-chunks:2',
  stall: 'stall:1',
  'trickle-comments': 'trickle-comments:10',
  endless: 'endless:5',
  huge: 'huge:100000',
  'huge-event': 'huge-event:100000',
  'byte-split': 'byte-split:7',
};

/** Behaviours that only their client ends. */
export const endlessBehaviours: readonly string[] = ['trickle-comments', 'endless'];

/** Behaviours that send nothing that counts, and never end. */
export const silentBehaviours: readonly string[] = ['silent', 'stall-after-role'];

export const behaviours = behaviourNames;
/** Behaviours that every mix includes. */
const commonBehaviours = [
  'echo',
  'cut',
  'error-500',
  'slow',
  'flaky',
  'invalid-json',
  'invalid-json-once',
  'fenced-json',
];
export const aloneModel = (behaviour: string): string => `alone/${behaviour}`;
export const spareModel = (behaviour: string): string => `spare/${behaviour}`;

type ReachedVia = Pick<SpokenInterface, 'id' | 'api'>;
const isTranslated = ({ id, api }: ReachedVia): boolean => id !== api;

/** Returns the same model at a provider for which the call is translated. */
export const modelFor = (reachedVia: ReachedVia, model: string): string =>
  isTranslated(reachedVia) ? `${reachedVia.api}/${model}` : model;
/** Returns the provider that misbehaves. */
export const badProviderFor = (reachedVia: ReachedVia): string => (isTranslated(reachedVia) ? reachedVia.api : 'bad');

/** This provider costs more, so it comes second. */
const spare: Route = { provider: 'good', upstream: 'echo', more: { output_price_per_million: '9.00' } };

/** The time limit for silent providers, which is far longer than a busy machine takes for an answer. */
const silenceLimitMs = 3_000;
const impatient = {
  first_chunk_timeout_ms: silenceLimitMs,
  idle_timeout_ms: silenceLimitMs,
  accepts_byok_header: true,
};

export const keyNames = ['team', 'limited', 'rateLimited', 'poor', 'sharded', 'capped', 'byok'] as const;
export type KeyName = (typeof keyNames)[number];
export type Keys = Readonly<Record<KeyName, string>>;

export const makeKeys = (randomness: Randomness): Keys =>
  Object.fromEntries(keyNames.map((name) => [name, createApiKey(randomness)])) as Keys;

/** The workspace to which each key belongs. */
export const workspaceOf: Readonly<Record<KeyName, string>> = {
  team: 'team',
  limited: 'team',
  rateLimited: 'team',
  poor: 'poor',
  sharded: 'sharded',
  capped: 'capped',
  byok: 'byok',
};

/** The variable with the stored provider key of workspace `byok`. */
export const connectionVariable = 'GW_FAULT_SUITE_CONNECTION';

/**
 * Returns the file. `met` are the behaviours that the calls of a suite need, because reading a file with all behaviours
 * takes longer than most calls.
 */
export function faultFile(keys: Keys, met: readonly string[]): FileParts {
  const models: Record<string, readonly Route[]> = {};
  const translating = translatedInterfaces.map((clientInterface) => [
    badProviderFor(clientInterface),
    { ...impatient, apis: [clientInterface.api] },
  ]);
  const limits = { rate_limit_rpm: 30, rate_limit_tpm: 1_000_000, rate_limit_tpd: 1_000_000_000 };
  for (const reachedVia of [chatFor('chat-completions'), ...translatedInterfaces]) {
    const provider = badProviderFor(reachedVia);
    for (const name of new Set([...commonBehaviours, ...met])) {
      const bad: Route = { provider, upstream: parameters[name] ?? name };
      models[modelFor(reachedVia, aloneModel(name))] = [bad];
      models[modelFor(reachedVia, spareModel(name))] = [bad, spare];
    }
    models[modelFor(reachedVia, 'limited/echo')] = [{ provider, upstream: 'echo', more: limits }, spare];
  }
  return {
    models,
    apis: spokenInterfaces.map(({ id }) => id),
    providers: { bad: impatient, good: { accepts_byok_header: true }, ...Object.fromEntries(translating) },
    service: { function_concurrency: 8, queue_ms: 50, concurrency: 50, key_concurrency: 40 },
    key: { key: keys.team },
    workspace: { ...workspace('team', '100', []), keys: teamKeys(keys), functions },
    moreWorkspaces: [
      // These four workspaces run out of money: a call of the suite reserves about 0.0003 USD, and costs a third of it.
      workspace('poor', '0.0006', [{ name: 'poor', key: keys.poor }]),
      workspace('sharded', '0.003', [{ name: 'sharded', key: keys.sharded }], { spend_limit_usd: '50' }),
      workspace('capped', '100', [{ name: 'capped', key: keys.capped }], { spend_limit_usd: '0.001' }),
      workspace('byok', '100', [{ name: 'byok', key: keys.byok }], {
        byok: {
          connections: [{ provider: 'bad', key: { env: connectionVariable }, policy: 'allowed', budget_usd: '0.5' }],
        },
      }),
    ],
  };
}

const teamKeys = ({ team, limited, rateLimited }: Keys) => [
  { name: 'team', key: team },
  { name: 'limited', key: limited, spend_limit_usd: '0.001', concurrency: 4 },
  { name: 'rateLimited', key: rateLimited, rpm: 1 },
];

const workspace = (id: string, credit_usd: string, keys: object[], more: object = {}) => ({
  id,
  credit_usd,
  keys,
  features: { byok: true, presets: true },
  function_concurrency: 4,
  concurrency: 45,
  ...more,
});

const chatFor = (api: ProviderApi): ReachedVia => ({ id: 'chat-completions', api });

const step = (id: string, content: string, reachedVia: ReachedVia) => ({
  id,
  model: modelFor(reachedVia, spareModel('flaky')),
  messages: [{ role: 'user', content }],
  options: { max_tokens: 64 },
});

const functions = [
  {
    id: 'prompt',
    kind: 'prompt',
    active: 'r1',
    revisions: [
      {
        id: 'r1',
        state: 'activated',
        model: aloneModel('error-500'),
        fallback_models: [
          modelFor(chatFor('generate-content'), aloneModel('error-500')),
          modelFor(chatFor('messages'), aloneModel('echo')),
        ],
        messages: [{ role: 'user', content: '{{input}}' }],
        options: { max_tokens: 64 },
        input: { type: 'text' },
      },
    ],
  },
  {
    id: 'workflow',
    kind: 'workflow',
    active: 'r1',
    revisions: [
      {
        id: 'r1',
        state: 'activated',
        input: { type: 'object', schema: { type: 'object' } },
        steps: [
          step('one', '{{input.topic}}', chatFor('messages')),
          step('two', 'b', chatFor('converse')),
          step('three', '{{steps.one.output}} {{steps.two.output}}', chatFor('generate-content')),
        ],
        output: { step: 'three' },
      },
    ],
  },
];
