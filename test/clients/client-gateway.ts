// The gateway that every client library is tested on: one gateway, models that behave and models that fail, and a stored function.
import type { BasePath } from '../../shared/foundation/constants/index.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const upstreams = {
  'acme/echo': 'echo',
  'acme/tools': 'tools',
  'acme/reasoning': 'reasoning',
  'acme/prose': 'invalid-json',
  'acme/broken': 'error-after-chunks:2',
  'acme/failing': 'error-500',
  'acme/limited': 'error-429:x:30',
  'acme/limited-for-long': 'error-429:x:90',
  'acme/too-long': 'error-400:context_length_exceeded',
  'acme/refused': 'error-401',
  'acme/no-quota': 'error-402',
};

/** Of a workspace without credit. */
export const poorKey = newKey();

/** What the clients speak. */
const apis = ['chat-completions', 'messages', 'responses', 'embeddings'];

/** Formats into which chat completions are translated; each has a provider of that name. */
const translated = ['messages', 'converse', 'generate-content'];

/** Models that answer chat completions, one for each format of their providers. */
export const modelsByFormat = ['acme/echo', ...translated.map((api) => `${api}/echo`)];

export const startClientGateway = (): Promise<Harness> =>
  startHarness({
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'first', key: poorKey }] }],
    models: {
      ...Object.fromEntries(Object.entries(upstreams).map(([id, upstream]) => [id, [{ provider: 'acme', upstream }]])),
      ...Object.fromEntries(translated.map((api) => [`${api}/echo`, [{ provider: api, upstream: 'echo' }]])),
      'acme/unconfigured': [{ provider: 'unset', upstream: 'echo' }],
    },
    providers: {
      acme: { apis },
      ...Object.fromEntries(translated.map((api) => [api, { apis: [api] }])),
      unset: { apis, auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } },
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

/** The `gw` member of a function's answer. */
export interface FunctionFacts {
  readonly function_id: string;
  readonly revision_id: string;
  readonly fallback_used: boolean;
  readonly execution_id: string;
}

export interface CountedFetch {
  readonly send: typeof fetch;
  /** Requests so far. */
  readonly count: number;
}

/** Shows how often a client comes back. */
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

/** One pixel. */
export const imageUrl =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** The arguments of both tools: the simulator makes an instance of it. */
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
