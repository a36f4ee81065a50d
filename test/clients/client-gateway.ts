// The gateway on which every client library is tested: models that answer and models that fail, at providers of every
// format, and a stored function.
import type { BasePath } from '../../shared/foundation/constants/index.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** Behaviours of the simulator, by the part of the model name after the provider. */
export const upstreams = {
  echo: 'echo',
  tools: 'tools',
  reasoning: 'reasoning',
  prose: 'invalid-json',
  broken: 'error-after-chunks:2',
  cut: 'cut:2',
  failing: 'error-500',
  limited: 'error-429:x:30',
  'limited-for-long': 'error-429:x:90',
  'too-long': 'error-400:context_length_exceeded',
  refused: 'error-401',
  'no-quota': 'error-402',
};

/** A key of a workspace without credit. */
export const poorKey = newKey();

/** Interfaces of the clients. `acme` has all of them, so calls to it are relayed. */
const relayedPaths = [
  ...['chat-completions', 'messages', 'responses', 'embeddings', 'images', 'moderations', 'rerank'],
  ...['speech', 'transcriptions'],
];

/** Formats into which chat completions are translated. */
export const translatedFormats = ['messages', 'converse', 'generate-content'] as const;

/** Formats, each with a provider of the same name that has only this format, and a model `formats/NAME`. */
export const formats = ['chat-completions', ...translatedFormats, 'responses', 'embeddings'] as const;
export type ClientFormat = (typeof formats)[number];

/** Providers for a gateway file. */
export const providersOfFormats = {
  models: Object.fromEntries(
    formats.map((format) => [`formats/${format}`, [{ provider: format, upstream: 'echo' }]] as const),
  ),
  providers: Object.fromEntries(formats.map((format) => [format, { apis: [format] }])),
};

/** Providers that have models for all of these behaviours. */
export const providers = ['acme', ...translatedFormats] as const;
export type ProviderName = (typeof providers)[number];

/** All providers whose models serve clients of Messages. */
const serving = [...providers, 'responses', 'chat-completions'] as const;

/** Models that reason if a request asks for it: their names decide how the gateway asks for it. */
const thinkers: Readonly<Record<(typeof serving)[number], string>> = {
  acme: 'echo',
  responses: 'gpt-5.4/echo',
  'chat-completions': 'gpt-5.4/echo',
  messages: 'claude-sonnet-4-5/echo',
  converse: 'anthropic.claude-sonnet-4-5-v1:0/echo',
  'generate-content': 'gemini-3-pro/echo',
};

const modelsOf = (provider: (typeof serving)[number]) =>
  Object.entries({ ...upstreams, thinking: thinkers[provider] }).map(
    ([name, upstream]) => [`${provider}/${name}`, [{ provider, upstream }]] as const,
  );

export const startClientGateway = (): Promise<Harness> =>
  startHarness({
    mayLeaveFaults: true,
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'first', key: poorKey }] }],
    models: {
      ...providersOfFormats.models,
      ...Object.fromEntries(serving.flatMap(modelsOf)),
      'acme/unconfigured': [{ provider: 'unset', upstream: 'echo' }],
    },
    providers: {
      acme: { apis: relayedPaths },
      ...providersOfFormats.providers,
      unset: { apis: relayedPaths, auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } },
    },
    workspace: {
      functions: [
        promptFunction('label', 'acme/echo', {
          messages: [{ role: 'user', content: 'Label this: {{input}}' }],
          options: { max_tokens: 64 },
        }),
      ],
    },
  });

export const baseUrlOf = ({ url }: Pick<Harness, 'url'>, base: BasePath): string => `${new URL(url).origin}${base}`;

export const functionAlias = 'gw/function/label';

/** The `gw` field of a function's answer. */
export interface FunctionGwField {
  readonly function_id: string;
  readonly revision_id: string;
  readonly fallback_used: boolean;
  readonly execution_id: string;
}

export interface CountedFetch {
  readonly send: typeof fetch;
  /** The number of requests so far. */
  readonly count: number;
}

/** Counts how often a client sends a request. */
export function countRequests(next: typeof fetch = fetch): CountedFetch {
  let count = 0;
  return {
    send: (input, init) => {
      count += 1;
      return next(input, init);
    },
    get count() {
      return count;
    },
  };
}

export const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** An image of one pixel. */
export const imageUrl =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The schema of both tools' arguments, from which the simulator makes arguments. */
export const citySchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;

export const labelSchema = {
  type: 'object',
  properties: { label: { type: 'string' } },
  required: ['label'],
  additionalProperties: false,
} as const;

export const toolNames = ['get_weather', 'get_time'] as const;
