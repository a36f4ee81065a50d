// Each kind of provider is called as its own documentation says: path, headers and body. The fake provider refuses what
// its format does not have.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type ProviderKind, providerKindNames, providerKinds } from '../../shared/configuration/model-list/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { startTokenEndpoint, type TokenEndpoint } from '../support/token-endpoint.ts';

type CallOfProvider = Harness['simulator']['calls'][number];

type Json = Record<string, unknown>;
interface Documented {
  /** The path after the base URL. */
  readonly path: string;
  readonly streamPath: string;
  /** The header and the value that send the key; undefined if the provider needs no key. */
  readonly key: readonly [header: string, value: unknown] | undefined;
  /** The body of a call that says Hello, with a bound of 500 tokens from the gateway file. */
  readonly body: Json;
  /** Fields that a stream adds. */
  readonly streamBody: Json;
}

const messages = [{ role: 'user', content: 'Hello' }];
const plain: Documented = {
  path: '/chat/completions',
  streamPath: '/chat/completions',
  key: ['authorization', 'Bearer the-key'],
  body: { model: 'echo', messages, max_tokens: 500 },
  streamBody: { stream: true, stream_options: { include_usage: true } },
};
const newerBound = { model: 'echo', messages, max_completion_tokens: 500 };
const gemini = {
  path: '/models/echo:generateContent',
  streamPath: '/models/echo:streamGenerateContent',
  body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }], generationConfig: { maxOutputTokens: 500 } },
  streamBody: {},
};
const signature = expect.stringMatching(
  /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request/,
);

type ChatKind = ProviderKind;
const chatKinds = providerKindNames;

const documented: Readonly<Record<ChatKind, Documented>> = {
  openai: { ...plain, body: newerBound },
  azure: { ...plain, key: ['api-key', 'the-key'], body: newerBound },
  anthropic: {
    path: '/messages',
    streamPath: '/messages',
    key: ['x-api-key', 'the-key'],
    body: { model: 'echo', max_tokens: 500, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }] },
    streamBody: { stream: true },
  },
  google: { ...gemini, key: ['x-goog-api-key', 'the-key'] },
  vertex: { ...gemini, key: ['authorization', 'Bearer token-1'] },
  bedrock: {
    path: '/model/echo/converse',
    streamPath: '/model/echo/converse-stream',
    key: ['authorization', signature],
    body: {
      system: [],
      messages: [{ role: 'user', content: [{ text: 'Hello' }] }],
      inferenceConfig: { maxTokens: 500 },
    },
    streamBody: {},
  },
  groq: plain,
  // Mistral refuses `stream_options`, and reports usage without it.
  mistral: { ...plain, streamBody: { stream: true } },
  deepseek: plain,
  xai: plain,
  openrouter: plain,
  together: plain,
  fireworks: plain,
  cerebras: plain,
  // The base URL has a path of its own here, so the usual paths follow it; kind-addresses.test.ts covers Cohere's own
  // address.
  cohere: plain,
  ollama: { ...plain, key: undefined },
  vllm: { ...plain, key: undefined },
};
const ownEmbeddings: Readonly<Partial<Record<ProviderKind, Pick<Documented, 'path' | 'body'>>>> = {
  google: {
    path: '/models/echo:embedContent',
    body: { model: 'models/echo', content: { parts: [{ text: 'Hello' }] } },
  },
  bedrock: { path: '/model/echo/invoke', body: { inputText: 'Hello' } },
  vertex: {
    path: '/models/echo:predict',
    body: { instances: [{ content: 'Hello' }], parameters: { autoTruncate: false } },
  },
};
const keyHeaders = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];

const serving = (api: 'responses' | 'embeddings' | 'rerank') =>
  chatKinds.filter((kind) => providerKinds[kind].apis.includes(api));

describe('a provider that says its kind alone', () => {
  let harness: Harness;
  let endpoint: TokenEndpoint;
  let former: readonly (readonly [string, string | undefined])[];
  beforeAll(async () => {
    endpoint = await startTokenEndpoint();
    const variables = new Map<string, string>([
      ['AWS_REGION', 'eu-west-1'],
      ['AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE'],
      ['AWS_SECRET_ACCESS_KEY', 'secret'],
      ['GW_TEST_VERTEX', endpoint.account()],
      ...providerKindNames.flatMap((kind): [string, string][] => {
        const { auth } = providerKinds[kind];
        return auth !== undefined && 'env' in auth ? [[auth.env, 'the-key']] : [];
      }),
    ]);
    former = [...variables.keys()].map((name) => [name, process.env[name]] as const);
    for (const [name, value] of variables) process.env[name] = value;
    harness = await startHarness({
      // Only the address differs from that of the kind.
      providers: Object.fromEntries(
        providerKindNames.map((kind) => [
          kind,
          { kind, auth: kind === 'vertex' ? { gcp: { env: 'GW_TEST_VERTEX' } } : undefined },
        ]),
      ),
      models: Object.fromEntries(
        providerKindNames.map((kind) => [
          `m-${kind}`,
          [{ provider: kind, upstream: 'echo', more: { default_output_tokens: 500 } }],
        ]),
      ),
    });
  });
  afterAll(async () => {
    for (const [name, value] of former) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await harness.stop();
    await endpoint.stop();
  });

  async function callReceived(path: string, body: Json): Promise<CallOfProvider | undefined> {
    harness.simulator.clear();
    const answer = await harness.postTo(path, body);
    expect(answer.status).toBe(200);
    await answer.text();
    expect(harness.simulator.calls).toHaveLength(1);
    return harness.simulator.calls[0];
  }
  const chat = (kind: ChatKind, more: Json = {}) => callReceived('/chat/completions', hello(`m-${kind}`, more));
  const keyOf = ({ headers = {} }: Partial<CallOfProvider> = {}) =>
    Object.entries(headers).filter(([name]) => keyHeaders.includes(name));
  const expectKeyOf = (kind: ChatKind, call: CallOfProvider | undefined) => {
    const { key } = documented[kind];
    expect(keyOf(call)).toEqual(key === undefined ? [] : [key]);
  };

  it.each(chatKinds)('%s is called at its path, with its key in its header and its own body', async (kind) => {
    const { path, streamPath, body, streamBody } = documented[kind];
    const call = await chat(kind);
    expect(call).toMatchObject({ method: 'POST', path: `/${kind}/v1${path}`, query: '' });
    expect(call?.body).toEqual(body);
    expect(call?.headers['content-type']).toBe('application/json');
    expect(call?.headers['anthropic-version']).toBe(kind === 'anthropic' ? '2023-06-01' : undefined);
    expectKeyOf(kind, call);
    const stream = await chat(kind, { stream: true });
    expect(stream?.path).toBe(`/${kind}/v1${streamPath}`);
    expect(stream?.query).toBe(streamPath.endsWith('streamGenerateContent') ? 'alt=sse' : '');
    expect(stream?.body).toEqual({ ...body, ...streamBody });
  });

  it.each(serving('responses'))('%s answers Responses, as documented', async (kind) => {
    const call = await callReceived('/responses', { model: `m-${kind}`, input: 'Hello' });
    expect(call?.path).toBe(`/${kind}/v1/responses`);
    expect(call?.body).toEqual({ model: 'echo', input: 'Hello', max_output_tokens: 500 });
    expectKeyOf(kind, call);
  });

  it.each(serving('embeddings'))('%s answers Embeddings, as documented', async (kind) => {
    const call = await callReceived('/embeddings', { model: `m-${kind}`, input: 'Hello' });
    const { path, body } = ownEmbeddings[kind] ?? { path: '/embeddings', body: { model: 'echo', input: 'Hello' } };
    expect(call?.path).toBe(`/${kind}/v1${path}`);
    expect(call?.body).toEqual(body);
    expectKeyOf(kind, call);
  });

  it.each(serving('rerank').filter((kind) => kind !== 'bedrock'))('%s answers Rerank, as documented', async (kind) => {
    const request = { query: 'Hello', documents: ['one', 'two'] };
    const call = await callReceived('/rerank', { model: `m-${kind}`, ...request });
    expect(call).toMatchObject({ path: `/${kind}/v1/rerank`, body: { model: 'echo', ...request } });
    expectKeyOf(kind, call);
  });

  it('gets a request for reasoning in its own form: an object at openrouter, an effort elsewhere', async () => {
    const reasoning = { effort: 'low' };
    expect((await chat('openrouter', { reasoning }))?.body).toMatchObject({ reasoning });
    expect((await chat('openai', { reasoning }))?.body).toMatchObject({ reasoning_effort: 'low' });
  });
});
