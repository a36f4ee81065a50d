// Requests to a provider: the client's fields unchanged, none of the gateway's, and nothing with which a client could
// decide where or how a provider is called.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { upstreamHeaders } from '../../functions/gateway/provider/prepare-call.ts';
import { credentialsOf } from '../support/credentials.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;
/** Reasoning models in the table of all formats. */
const thinkers = ['gpt-5', 'gpt-5.1', 'gpt-5.4', 'o3', 'grok-4', 'gemini-2.5-pro', 'claude-sonnet-4-5'] as const;
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('what reaches a provider', () => {
  let gateway: Harness;

  beforeAll(async () => {
    const credentials = {
      find: ({ id }: { id: string }) => ({ headers: id === 'open' ? {} : { authorization: `Bearer secret-of-${id}` } }),
    };
    gateway = await startHarness({
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        'acme/open': [{ provider: 'open', upstream: 'echo' }],
        'acme/object': [{ provider: 'thinker', upstream: 'echo' }],
        'acme/mute': [{ provider: 'mute', upstream: 'echo' }],
        'acme/constant': [{ provider: 'constant', upstream: 'echo' }],
        'acme/uncounted': [{ provider: 'uncounted', upstream: 'echo' }],
        ...Object.fromEntries(thinkers.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]])),
      },
      providers: {
        thinker: { reasoning_style: 'object' },
        mute: { reasoning_style: 'none' },
        uncounted: { stream_usage: false },
        constant: { headers: { 'X-Acme-Version': '2', 'openai-organization': 'ours' } },
      },
      replace: () => ({ credentials: credentialsOf(credentials.find) }),
    });
  });
  afterAll(() => gateway.stop());

  async function receivedFor(body: unknown, headers: Record<string, string> = {}) {
    gateway.simulator.clear();
    const response = await gateway.post(body, headers);
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    expect(gateway.simulator.calls).toHaveLength(1);
    const [call] = gateway.simulator.calls;
    if (call === undefined) throw new Error('no provider was called');
    return { ...call, body: call.body as Json };
  }

  it('is every field as it was sent, with the model of the provider', async () => {
    const request = hello('acme/echo', {
      temperature: 0.7,
      top_p: 1,
      max_tokens: 16,
      stop: ['\n\n', 'END'],
      seed: 7,
      n: 1,
      user: 'caf\u00e9 \ud83d\ude80',
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'none',
      logit_bias: { 50256: -100 },
      response_format: { type: 'text' },
      vendor_extension: { nested: [null, true, { deep: [] }], empty: '' },
      toString: 'own',
      constructor: 'own',
    });
    const { body } = await receivedFor(request);
    expect(body).toEqual({ ...request, model: 'echo' });
  });

  it('keeps numbers that JavaScript would round, and a field named __proto__', async () => {
    const members = '"seed":9007199254740993,"ids":[12345678901234567890,-9223372036854775808],"__proto__":{"a":1}';
    const { bodyText } = await receivedFor(
      `{"model":"acme/echo","messages":[{"role":"user","content":"1234567890123456789"}],${members}}`,
    );
    expect(bodyText).toContain(members);
    expect(bodyText).toContain('"content":"1234567890123456789"');
  });

  it('is never a field of the gateway', async () => {
    const { body } = await receivedFor(
      hello('acme/echo', {
        provider: { only: ['acme'], sort: 'price' },
        cache: { enabled: false },
        preset: null,
        usage: { include: true },
        reasoning: { effort: 'high' },
      }),
    );
    expect(Object.keys(body).toSorted()).toEqual(['messages', 'model', 'reasoning_effort']);
    expect(body.reasoning_effort).toBe('high');
  });

  it.each([
    [{ effort: 'minimal' }, 'minimal'],
    [{ enabled: true }, 'medium'],
    [{ enabled: false }, 'none'],
    [{ max_tokens: 0 }, 'none'],
    [{ max_tokens: 1_000 }, 'low'],
    [{ max_tokens: 8_000 }, 'medium'],
    [{ max_tokens: 30_000, exclude: true }, 'high'],
    [{ exclude: true }, undefined],
    [{ effort: null }, undefined],
  ])('is reasoning as an effort, if the provider knows only that: %j', async (reasoning, effort) => {
    const { body } = await receivedFor(hello('acme/echo', { reasoning }));
    expect(body.reasoning_effort).toBe(effort);
    expect(body).not.toHaveProperty('reasoning');
  });

  it.each([
    ['gpt-5', { effort: 'none' }, 'minimal'],
    ['gpt-5.1', { effort: 'none' }, 'none'],
    ['gpt-5.1', { effort: 'minimal' }, 'low'],
    ['gpt-5.1', { effort: 'max' }, 'high'],
    ['gpt-5.4', { effort: 'max' }, 'xhigh'],
    ['o3', { enabled: false }, 'low'],
    ['o3', { max_tokens: 30_000 }, 'high'],
    // A host that has budgets derives a budget from an effort.
    ['gemini-2.5-pro', { effort: 'minimal' }, 'minimal'],
    ['claude-sonnet-4-5', { enabled: false }, 'none'],
  ])('is an effort that the model knows: %s and %j', async (model, reasoning, effort) => {
    const { body } = await receivedFor(hello(`acme/${model}`, { reasoning }));
    expect(body.reasoning_effort).toBe(effort);
    // Values in the provider's own form stay unchanged.
    const request = await receivedFor(hello(`acme/${model}`, { reasoning_effort: 'minimal' }));
    expect(request.body.reasoning_effort).toBe('minimal');
  });

  it('has no reasoning if its model or its provider has none, and the client gets a report of it', async () => {
    for (const [model, effort] of [
      ['acme/grok-4', 'high'],
      ['acme/mute', 'high'],
      ['acme/mute', null],
    ] as const) {
      const response = await gateway.post(hello(model, { reasoning: { effort } }));
      await response.text();
      expect(response.headers.get('x-gw-left-out')).toBe(effort === null ? null : 'reasoning');
      expect(gateway.simulator.calls.at(-1)?.body).not.toHaveProperty('reasoning_effort');
    }
  });

  it('asks for usage on every stream, but not if the provider says that it takes no such option', async () => {
    const stream = { stream: true };
    const optionsFor = async (model: string, members: object) =>
      (await receivedFor(hello(model, { ...stream, ...members }))).body.stream_options;
    for (const stream_options of [undefined, null, {}, { include_usage: true }]) {
      expect(await optionsFor('acme/echo', { stream_options })).toEqual({ include_usage: true });
    }
    expect((await receivedFor(hello('acme/echo'))).body).not.toHaveProperty('stream_options');
    expect(await optionsFor('acme/echo', { stream_options: { x: 1, include_usage: false } })).toEqual({
      x: 1,
      include_usage: true,
    });
    expect(await optionsFor('acme/uncounted', {})).toBeUndefined();
    expect(await optionsFor('acme/uncounted', { stream_options: { include_usage: true } })).toBeUndefined();
    expect(await optionsFor('acme/uncounted', { stream_options: { x: 1, include_usage: true } })).toEqual({ x: 1 });
  });

  it('is reasoning as sent if the provider takes the object, and none if it knows none', async () => {
    const reasoning = { effort: 'high', exclude: true, summary: 'auto', vendor: 1 };
    const asObject = await receivedFor(hello('acme/object', { reasoning }));
    expect(asObject.body.reasoning).toEqual(reasoning);
    expect(asObject.body).not.toHaveProperty('reasoning_effort');
    const mute = await receivedFor(hello('acme/mute', { reasoning }));
    expect(Object.keys(mute.body).toSorted()).toEqual(['messages', 'model']);
  });

  it('has our credential and no header of the client but its traceparent', async () => {
    const { headers } = await receivedFor(hello('acme/echo'), {
      traceparent,
      tracestate: 'vendor=1',
      'http-referer': 'https://app.example',
      'x-title': 'My app',
      'x-gw-session-id': 'session',
      'user-agent': 'my-client',
      cookie: 'a=b',
      'x-api-key': 'mine',
      'x-forwarded-for': '10.0.0.1',
      'openai-organization': 'org',
      accept: 'text/html',
    });
    const { host: _host, 'content-length': _length, connection: _connection, ...rest } = headers;
    expect(rest).toEqual({
      accept: 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer secret-of-acme',
      'content-type': 'application/json',
      traceparent,
      'user-agent': 'gw',
    });
    const open = await receivedFor(hello('acme/open'));
    expect(open.headers).not.toHaveProperty('authorization');
    expect(open.headers).not.toHaveProperty('traceparent');
    expect(JSON.stringify([headers, open.headers])).not.toContain(gateway.key);
  });

  it('gets the constant headers of its entry, whatever a client sends under their names', async () => {
    const clientHeaders = { 'x-acme-version': '1', 'openai-organization': 'theirs' };
    const { headers } = await receivedFor(hello('acme/constant'), clientHeaders);
    expect(headers).toMatchObject({ 'x-acme-version': '2', 'openai-organization': 'ours' });
    expect((await receivedFor(hello('acme/echo'), clientHeaders)).headers).not.toHaveProperty('x-acme-version');
  });

  it.each([
    ['/messages', {}, {}, '2023-06-01'],
    ['/messages/count_tokens?beta=true', {}, {}, '2023-06-01'],
    ['/messages?beta=true', { 'anthropic-version': 'entry' }, {}, 'entry'],
    ['/messages', { 'anthropic-version': 'entry' }, { 'anthropic-version': 'client' }, 'client'],
    ['/messages', {}, { 'anthropic-version': 'client' }, 'client'],
    ['/chat/completions', {}, {}, undefined],
    ['/chat/completions', { 'anthropic-version': 'entry' }, {}, 'entry'],
  ])('carries a version of Anthropic at %s, if entry says %j and client %j: %s', (path, constant, headers, version) => {
    const parts = {
      path,
      accept: 'application/json',
      constant,
      headers,
      credential: {},
      traceparent: undefined,
      contentType: 'application/json',
    };
    expect(upstreamHeaders(parts)['anthropic-version']).toBe(version);
  });

  it('gets no header of a client in place of one that the gateway sets', () => {
    const headers = upstreamHeaders({
      path: '/messages',
      accept: 'application/json',
      constant: undefined,
      headers: { accept: 'text/html', 'content-type': 'text/plain', 'x-api-key': 'theirs', 'anthropic-beta': 'a,b' },
      credential: { 'x-api-key': 'ours' },
      traceparent: undefined,
      contentType: 'application/json',
    });
    expect(headers).toMatchObject({ accept: 'application/json', 'content-type': 'application/json' });
    expect(headers).toMatchObject({ 'x-api-key': 'ours', 'anthropic-beta': 'a,b' });
  });

  it('goes where the catalogue says, whatever addresses and headers a body names', async () => {
    const elsewhere = 'http://169.254.169.254/latest';
    const members = {
      api_base: elsewhere,
      base_url: elsewhere,
      url: elsewhere,
      api_key: 'theirs',
      headers: { authorization: 'Bearer theirs', host: 'elsewhere' },
      extra_headers: { 'x-evil': '1' },
      timeout: 1,
    };
    const { path, provider, headers, body } = await receivedFor(hello('acme/echo', members));
    expect([provider, path]).toEqual(['acme', '/acme/v1/chat/completions']);
    expect(headers.authorization).toBe('Bearer secret-of-acme');
    expect(headers).not.toHaveProperty('x-evil');
    expect(headers.host).toBe(new URL(gateway.simulator.url).host);
    expect(body).toMatchObject(members);
  });
});
