// Messages through the gateway: requests and answers byte for byte, and their charges.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { unknownMembersTexts } from '../../infra/local/simulator/index.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';

const upstreams = ['echo', 'echo-request', 'unknown-members', 'error-after-chunks:1:rate_limit_error'];
const poor = newKey();

let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    models: {
      ...Object.fromEntries(upstreams.map((upstream) => [`acme/${upstream}`, [{ provider: 'acme', upstream }]])),
      'acme/searching': [
        { provider: 'acme', upstream: 'echo', more: { supported_params: { tools: true, extras: ['web_search'] } } },
      ],
      'acme/open-minded': [
        {
          provider: 'acme',
          upstream: 'echo-request',
          more: { supported_params: { tools: true, extras: ['other_tools'] } },
        },
      ],
      'acme/additive': [{ provider: 'additive', upstream: 'echo' }],
      'acme/kept': [
        { provider: 'acme', upstream: 'echo' },
        { provider: 'globex', upstream: 'echo' },
      ],
      'acme/lost-thread': [
        { provider: 'acme', upstream: 'error-404:thread_not_found' },
        { provider: 'globex', upstream: 'echo' },
      ],
      'acme/continued-thread': [{ provider: 'acme', upstream: 'error-400:thread_already_continued' }],
      'acme/uncounted': [{ provider: 'initech', upstream: 'error-404' }],
    },
    providers: {
      acme: { apis: ['chat-completions', 'messages'], shared_state: true },
      globex: { apis: ['messages'] },
      initech: { apis: ['messages'] },
      additive: { apis: ['messages'], reasoning_tokens: 'additive' },
    },
    moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poor }] }],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => gateway.simulator.clear());

type Json = Record<string, unknown>;
const hello = (model: string, more: Json = {}): Json => ({
  model: `acme/${model}`,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});

/** Returns the headers without undefined ones. */
const sentHeaders = (headers: Json) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<string, string>;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const post = (body: unknown, headers: Json = {}, path = '/messages') =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: sentHeaders({ ...bearer(gateway.key), 'content-type': 'application/json', ...headers }),
    body: JSON.stringify(body),
  });
const count = (body: unknown, headers: Json = {}) => post(body, headers, '/messages/count_tokens');

/** Returns `event: name` and `data: text` of each event. */
const eventsIn = (text: string) =>
  text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => /^event: (\w+)\ndata: ([^\n]+)$/.exec(event)?.slice(1) ?? [event]);

async function stream(model: string, more: Json = {}) {
  const response = await post(hello(model, { stream: true, ...more }));
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  return { text, events: eventsIn(text), headers: response.headers };
}

describe('an answer', () => {
  it('is the provider’s, byte for byte; its cost is in a header, its id in two', async () => {
    const response = await post(hello('unknown-members'));
    expect(await response.text()).toBe(unknownMembersTexts('messages', {}).json);
    // The cost is 7 and 5 tokens at 1 and 2 USD per million.
    expect(response.headers.get('x-gw-cost')).toBe('0.000017');
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    expect(await gateway.lastRecord()).toMatchObject({
      interfaceId: 'messages',
      costPicoUsd: 17_000_000n,
      stream: false,
    });
  });

  it('of a stream has the same events with their names and in their order, each byte for byte, and no other end', async () => {
    const { text, events, headers } = await stream('unknown-members');
    const sentEvents = unknownMembersTexts('messages', {}).data;
    expect(events.map(([, data]) => data)).toEqual(sentEvents);
    expect(events.map(([name]) => name)).toEqual(sentEvents.map((data) => JSON.parse(data).type));
    expect(events.at(-1)?.[0]).toBe('message_stop');
    expect(text).not.toContain('[DONE]');
    expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
    expect(await gateway.lastRecord()).toMatchObject({ costPicoUsd: 17_000_000n, stream: true, outcome: 'ok' });
  });
});

describe('a failure', () => {
  it('after the first output is one error event in Anthropic’s form with our code, and nothing after it', async () => {
    const { events } = await stream('error-after-chunks:1:rate_limit_error');
    const [name, text = ''] = events.at(-1) ?? [];
    expect([name, JSON.parse(text)]).toEqual([
      'error',
      {
        type: 'error',
        error: {
          type: 'api_error',
          message: expect.stringContaining('rate_limited: The stream broke off'),
          details: { error_code: 'rate_limited' },
        },
      },
    ]);
    expect(await gateway.lastRecord()).toMatchObject({ outcome: 'cut', estimated: true });
  });

  it('says the same as everywhere, in Anthropic’s form', async () => {
    const response = await post(hello('unknown'));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: expect.stringContaining('acme/unknown'),
        details: { error_code: 'unknown_model' },
      },
      error_code: 'unknown_model',
      correlation_id: response.headers.get('request-id'),
    });
  });
});

describe('a request', () => {
  async function echoed(body: Json, headers: Json = {}, path = '/messages') {
    const answer = (await (await post(body, headers, path)).json()) as { content: { text: string }[] };
    const text = answer.content[0]?.text ?? '';
    return { text, headers: (JSON.parse(text) as { headers: Record<string, string> }).headers };
  }

  it('reaches the provider as it was sent, less the gateway’s fields; model is the provider’s', async () => {
    const odd = {
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      thinking: { type: 'adaptive' },
      usage: { include: true },
      reasoning: 'unknown to the gateway here',
      x_vendor: { big: 1, list: [] },
    };
    const gatewayMembers = { provider: { only: ['acme'] }, models: ['acme/echo'], cache: null, preset: null };
    const { text } = await echoed(hello('echo-request', { ...gatewayMembers, ...odd }));
    const { model: _ours, ...sentBody } = hello('echo-request', odd);
    expect(text).toContain(`"body":${JSON.stringify(sentBody).slice(0, -1)},"model":"echo-request"}}`);
  });

  it('passes on what the gateway does not know: roles, betas, its query, and tools if the entry allows them; never a key of the client', async () => {
    const body = hello('open-minded', {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
        { role: 'narrator', content: [{ type: 'hologram', text: 'x' }] },
      ],
      tools: [{ type: 'teleport_20300101', name: 'teleport' }],
    });
    const headers = {
      'anthropic-beta': 'from-the-future-2030-01-01',
      'anthropic-version': '2029-01-01',
      authorization: undefined,
      'x-api-key': gateway.key,
    };
    const { headers: sentHeaders } = await echoed(body, headers, '/messages?beta=true');
    expect(sentHeaders).toMatchObject({
      'anthropic-beta': 'from-the-future-2030-01-01',
      'anthropic-version': '2029-01-01',
    });
    expect(JSON.stringify(sentHeaders)).not.toContain('sk-gw-');
    expect(gateway.simulator.calls[0]?.path).toContain('/messages');
    expect(gateway.simulator.calls[0]?.query).toBe('beta=true');
  });

  it.each([
    ['its query', '/messages?beta=true&api_key=KEY', {}],
    ['its query, percent-encoded', '/messages?beta=true&api_key=ENCODED', {}],
    ['a header that is passed on', '/messages', { 'anthropic-beta': 'a,KEY' }],
  ])('that holds a key of the gateway in %s is refused, and no provider sees the key', async (_what, path, more) => {
    const encoded = gateway.key.replace(/^sk-gw/, '%73k%2dgw').replace('e', '%65');
    const filled = (text: string) => text.replace('KEY', gateway.key).replace('ENCODED', encoded);
    const headers = Object.fromEntries(Object.entries(more).map(([name, value]) => [name, filled(value)]));
    const response = await fetch(`${gateway.url}${filled(path)}`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, ...headers },
      body: JSON.stringify(hello('echo')),
    });
    expect([response.status, (await response.json()) as Json]).toMatchObject([400, { error_code: 'invalid_request' }]);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it.each<[string, Json, number, string]>([
    ['a preset', { preset: 'terse' }, 400, 'invalid_request'],
    ['the alias of a function', { model: 'gw/function/label' }, 400, 'invalid_function_request'],
    ['no bound for its output', { max_tokens: undefined }, 400, 'invalid_request'],
    ['a bound that is none', { max_tokens: -1 }, 400, 'invalid_request'],
    ['no messages', { messages: undefined }, 400, 'invalid_request'],
    ['a message without a role', { messages: [{ content: 'Hello' }] }, 400, 'invalid_request'],
    ['a gateway member of a wrong type', { cache: true }, 400, 'invalid_request'],
    ['a restriction that is not understood', { provider: { onyl: ['acme'] } }, 400, 'invalid_request'],
    ['a name in another letter case', { Max_Tokens: 5 }, 400, 'invalid_request'],
    [
      'a search that the provider runs',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      400,
      'feature_unsupported',
    ],
  ])('with %s is refused with the member’s name, before any provider', async (_what, more, status, code) => {
    const response = await post(hello('echo', more));
    expect(response.status).toBe(status);
    const { error, error_code } = (await response.json()) as { error: { message: string }; error_code: string };
    expect(error_code).toBe(code);
    const [member = ''] = Object.keys(more);
    if (code !== 'invalid_function_request') expect(error.message.toLowerCase()).toContain(member.toLowerCase());
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('with a search that the provider runs is served if the entry lists it', async () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
    expect((await post(hello('searching', { tools }))).status).toBe(200);
    const refusal = await post(hello('searching', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }));
    const { error } = (await refusal.json()) as { error: { message: string } };
    expect(error.message).toContain('tools[0]');
    expect(error.message).toContain('extras: [web_fetch]');
  });

  it('with a beta that moves the window is refused, unless the entry lists its extra', async () => {
    const refusal = await post(hello('echo'), { 'anthropic-beta': 'effort-2025-11-24,context-1m-2025-08-07' });
    const { error, error_code } = (await refusal.json()) as { error: { message: string }; error_code: string };
    expect([refusal.status, error_code]).toEqual([400, 'feature_unsupported']);
    expect(error.message).toMatch(/the header anthropic-beta\. .*extras: \[long_context\]/);
    expect(gateway.simulator.calls).toEqual([]);
  });

  it('carries its key in x-api-key or as a bearer; two different keys are refused, without a retry', async () => {
    const none = { authorization: undefined };
    expect((await post(hello('echo'), { ...none, 'x-api-key': gateway.key })).status).toBe(200);
    expect((await post(hello('echo'), { 'x-api-key': gateway.key })).status).toBe(200);
    const refusal = await post(hello('echo'), { 'x-api-key': poor });
    expect([refusal.status, refusal.headers.get('x-should-retry')]).toEqual([401, 'false']);
    expect(await refusal.json()).toMatchObject({ error: { type: 'authentication_error' }, error_code: 'UNAUTHORIZED' });
  });

  it.each(['sk-ant-api03-canary-of-another-service', 'sk-gw-canary-that-is-cut-off', 'any canary of a proxy'])(
    'is made with the key of this gateway if another one is beside it, which goes nowhere: %s',
    async (foreign) => {
      const version = { 'anthropic-version': '2023-06-01' };
      const headersOfClients = [
        { ...version, 'x-api-key': foreign },
        { ...version, authorization: `Bearer ${foreign}`, 'x-api-key': gateway.key },
      ];
      for (const headers of headersOfClients) {
        const before = gateway.simulator.calls.length;
        expect((await post(hello('echo'), headers)).status).toBe(200);
        expect((await gateway.postTo('/messages/count_tokens', hello('echo'), headers)).status).toBe(200);
        expect((await gateway.get('/models', headers)).status).toBe(200);
        const calls = gateway.simulator.calls.slice(before);
        expect(calls.length).toBeGreaterThan(0);
        expect(JSON.stringify(calls.map((call) => call.headers))).not.toContain('canary');
      }
      await gateway.settled();
      expect(await gateway.testStore.dumpTables()).not.toContain('canary');
      expect(gateway.logLines.join('\n')).not.toContain('canary');
      for (const headers of [
        { authorization: undefined, 'x-api-key': foreign },
        { authorization: `Bearer ${foreign}`, 'x-api-key': `${foreign}-too` },
      ]) {
        expect((await post(hello('echo'), headers)).status).toBe(401);
      }
    },
  );

  it('is of the session that Claude Code names, if it names none of the gateway', async () => {
    await (await post(hello('echo'), { 'x-claude-code-session-id': 'session-1' })).text();
    expect(await gateway.lastRecord()).toMatchObject({ sessionId: 'session-1' });
    await (await post(hello('echo'), { 'x-claude-code-session-id': 'session-1', 'x-gw-session-id': 'ours' })).text();
    expect(await gateway.lastRecord()).toMatchObject({ sessionId: 'ours' });
  });

  it('with an id of its user is recorded under it', async () => {
    await (await post(hello('echo', { metadata: { user_id: 'user-7' } }))).text();
    expect(await gateway.lastRecord()).toMatchObject({ user: 'user-7' });
  });
});

describe('a thread', () => {
  const outcomeOf = async (model: string, more: Json) => {
    gateway.simulator.clear();
    const response = await post(hello(model, more));
    const text = await response.text();
    const providers = gateway.simulator.calls.map(({ provider }) => provider);
    return { status: response.status, id: /msg_[0-9a-z]+/i.exec(text)?.[0], text, providers };
  };
  const other = { provider: { only: 'globex' } };
  const goingOn = (id: string | undefined) => ({ thread: { type: 'continue', previous_message_id: id } });

  it.each([false, true])('goes on at the provider that made the message, turn by turn; stream %s', async (stream) => {
    const first = await outcomeOf('kept', { stream, thread: { type: 'create' }, ...other });
    const second = await outcomeOf('kept', { stream, ...goingOn(first.id) });
    const third = await outcomeOf('kept', { stream, ...goingOn(second.id) });
    expect([first, second, third].map(({ status, providers }) => [status, ...providers])).toEqual(
      Array(3).fill([200, 'globex']),
    );
  });

  it('goes to the first provider if none is known to keep it, and to no other one after it', async () => {
    const unkept = await outcomeOf('kept', other);
    for (const id of [unkept.id, 'msg_unknown', undefined]) {
      expect((await outcomeOf('kept', goingOn(id))).providers).toEqual(['acme']);
    }
  });

  it('that its provider does not know, or not in this form, is reported with the words by which clients go on', async () => {
    const lostThread = await outcomeOf('lost-thread', goingOn('msg_unknown'));
    expect([lostThread.status, lostThread.providers, JSON.parse(lostThread.text)]).toMatchObject([
      404,
      ['acme'],
      { error_code: 'not_found', error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } } },
    ]);
    const continued = await outcomeOf('continued-thread', goingOn('msg_unknown'));
    expect([continued.status, JSON.parse(continued.text)]).toMatchObject([
      400,
      { error_code: 'invalid_request', error: { details: { error_code: 'thread_already_continued' } } },
    ]);
  });

  it('is kept by its provider, so that neither a cache nor a policy that forbids it serves one', async () => {
    const thread = { type: 'create' };
    const cached = { cache: { namespace: 'threads' }, thread };
    await outcomeOf('kept', cached);
    expect((await outcomeOf('kept', cached)).providers).toEqual(['acme']);
    const refusal = await outcomeOf('kept', { provider: { zdr: true }, thread });
    expect([refusal.status, JSON.parse(refusal.text).error_code, refusal.providers]).toEqual([
      422,
      'data_policy_loosening_forbidden',
      [],
    ]);
  });
});

describe('a retry and a repetition', () => {
  it('of a call of another interface under the same key is a conflict, also of a count of tokens', async () => {
    const key = { 'idempotency-key': 'shared-by-interfaces' };
    await (await post(hello('echo'), key)).text();
    await gateway.settled();
    for (const path of ['/chat/completions', '/messages/count_tokens']) {
      const response = await post(hello('echo'), key, path);
      expect([path, response.status]).toEqual([path, 409]);
    }
    expect(gateway.simulator.calls).toHaveLength(1);
  });

  it.each([false, true])(
    'with cache get the answer that was given before, at no cost, and no other interface does; stream %s',
    async (asStream) => {
      const body = hello('echo', { stream: asStream, cache: { namespace: `messages ${asStream}` } });
      const first = await post(body);
      const text = await first.text();
      await gateway.settled();
      const again = await post(body);
      expect(await again.text()).toBe(text);
      expect([first, again].map(({ headers }) => headers.get('x-gw-cache'))).toEqual(['MISS', 'HIT']);
      if (!asStream) expect(again.headers.get('x-gw-cost')).toBe('0');
      expect(gateway.simulator.calls).toHaveLength(1);
      const other = await post(body, {}, '/chat/completions');
      await other.text();
      expect(other.headers.get('x-gw-cache')).toBe('MISS');
      // A beta header may change the answer, so it is part of the cache key.
      const beta = await post(body, { 'anthropic-beta': 'x-1' });
      await beta.text();
      expect(beta.headers.get('x-gw-cache')).toBe('MISS');
    },
  );
});

describe('a count of tokens', () => {
  it('is the provider’s, costs nothing and needs no credit', async () => {
    const { max_tokens: _none, ...body } = hello('echo', { system: 'Be brief.' });
    const response = await count(body, bearer(poor));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ input_tokens: expect.any(Number) });
    expect(
      gateway.simulator.calls.map(({ path, status }) => [path.endsWith('/messages/count_tokens'), status]),
    ).toEqual([[true, 200]]);
    await gateway.settled();
    const [record] = await gateway.records('poor');
    expect(record).toMatchObject({
      interfaceId: 'count-tokens',
      costPicoUsd: 0n,
      promptTokens: 0,
      completionTokens: 0,
    });
    expect((await post(hello('echo'), bearer(poor))).status).toBe(402);
  });

  it('needs no credit either if reasoning comes on top of the output that was asked for', async () => {
    expect((await count(hello('additive'), bearer(poor))).status).toBe(200);
    expect((await post(hello('additive'), bearer(poor))).status).toBe(402);
  });

  it('that a provider does not know says nothing about the provider’s answers', async () => {
    for (let call = 0; call < 3; call += 1) expect((await count(hello('uncounted'))).status).toBe(404);
    await gateway.settled();
    expect(gateway.composition.cooldowns.isCooling({ provider: 'initech', model: 'acme/uncounted' }, 'team')).toBe(
      false,
    );
    await (await post(hello('uncounted'))).text();
    await (await post(hello('uncounted'))).text();
    expect(gateway.composition.cooldowns.isCooling({ provider: 'initech', model: 'acme/uncounted' }, 'team')).toBe(
      true,
    );
  });
});

describe('a path that is not there', () => {
  it.each(['/messages/batches', '/messages/count_tokens/x', '/messages/*'])(
    'below Messages has the form of that interface: %s',
    async (path) => {
      const response = await fetch(`${gateway.url}${path}`, { method: 'POST' });
      const { error } = (await response.json()) as { error: Json };
      expect([response.status, error.type]).toEqual([404, 'not_found_error']);
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    },
  );
});
