// What an earlier release stored, and the calls that made it do so: `record` was run by that release, its items stand in a file
// beside this one, and the release after has to find them.
import { type Harness, hello, startHarness } from '../../support/harness.ts';

type Json = Record<string, unknown>;

export interface RecordedCall {
  readonly name: string;
  readonly path: string;
  /** As sent: blanks, order and numbers are what a fingerprint must not depend on, or must. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

const odd = {
  temperature: 0.5,
  metadata: { z: 1, a: { é: 'ü\u2028', list: [1, 2.5, null, true], __proto__: undefined } },
  seed: 'SEED',
};
/** An integer that no double holds, an exponent, a name with an escape. */
const written = (body: Json): string =>
  JSON.stringify(body, null, 1)
    .replace('"SEED"', '12345678901234567890')
    .replace('"temperature": 0.5', '"\\u0074emperature": 5e-1');

const model = 'acme/echo';
const asked: Readonly<Record<string, { readonly path: string; readonly body: Json }>> = {
  'chat completions': { path: '/chat/completions', body: hello(model, odd) },
  Messages: { path: '/messages?beta=true', body: hello(model, { ...odd, max_tokens: 64 }) },
  Responses: { path: '/responses', body: { model, input: 'Hello', store: false, ...odd } },
  Embeddings: { path: '/embeddings', body: { model: 'acme/vectors', input: ['Hello', 'you'], ...odd } },
};
const sent: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Messages: { 'anthropic-beta': 'effort-2025-11-24', 'anthropic-version': '2023-06-01' },
  'chat completions': {
    'x-gw-trace-id': '4bf92f3577b34da6a3ce929d0e0e4736',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    'x-session-id': 'session-1',
  },
};

const kinds = Object.entries(asked).flatMap(([name, { path, body }]) =>
  (name === 'Embeddings' ? [false] : [false, true]).map((stream) => ({
    name,
    path,
    body: { ...body, stream },
    stream,
  })),
);

/** Under an Idempotency-Key. */
export const keyedCalls: readonly RecordedCall[] = [
  ...kinds.map(({ name, path, body, stream }) => ({
    name: `${name}, stream ${stream}`,
    path,
    text: written(body),
    headers: { ...sent[name], 'idempotency-key': `${name.replace(' ', '-')}-${stream}` },
  })),
  {
    name: 'a stored function',
    path: '/chat/completions',
    text: JSON.stringify(hello('gw/function/label', { user: 'u' })),
    headers: { 'idempotency-key': '6F9619FF-8B86-4D01-B42D-00CF4FC964FF' },
  },
];

const choices: Readonly<Record<string, Json>> = {
  'chat completions': { only: ['acme'], ignore: ['globex'] },
  Messages: { order: ['acme'], allow_fallbacks: false },
  Responses: { data_collection: 'deny' },
};

/** Through the response cache. */
export const cachedCalls: readonly RecordedCall[] = kinds.map(({ name, path, body, stream }) => ({
  name: `${name}, stream ${stream}`,
  path,
  text: written({ ...body, cache: { ttl: 86_400, namespace: 'n' }, provider: choices[name] ?? null }),
  headers: { ...(name === 'Messages' ? sent.Messages : {}) },
}));

const apis = ['chat-completions', 'messages', 'responses', 'embeddings'];

export const startRecorded = (): Promise<Harness> =>
  startHarness({
    models: {
      [model]: [{ provider: 'acme', upstream: 'echo' }],
      'acme/vectors': [{ provider: 'acme', upstream: 'echo' }],
      'globex/echo': [{ provider: 'globex', upstream: 'echo' }],
    },
    providers: { acme: { apis, data_policy: { data_collection: 'deny' } }, globex: { apis } },
    workspace: {
      functions: [
        {
          id: 'label',
          kind: 'prompt',
          active: 'r1',
          revisions: [{ id: 'r1', state: 'activated', model, messages: [{ role: 'user', content: '{{input}}' }] }],
        },
      ],
    },
  });

export interface RecordedAnswer {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
  readonly headers: Headers;
}

export async function send(harness: Harness, { path, text, headers }: RecordedCall): Promise<RecordedAnswer> {
  const response = await harness.postTo(path, text, headers);
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    text: await response.text(),
    headers: response.headers,
  };
}
