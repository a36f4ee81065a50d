// A stored response: only the workspace that made it can read it, at the account that stores it, and a read costs
// nothing.
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const apis = ['responses'];
const ourKey = 'stored-secret';
const storedKey = 'stored-connection-key';
const ours = { apis, auth: { bearer: { env: 'GW_TEST_STORED' } } };

const keys = {
  main: newKey(),
  second: newKey(),
  narrow: newKey(),
  limited: newKey(),
  stranger: newKey(),
  byok: newKey(),
  always: newKey(),
};
const file = {
  models: {
    'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
    'acme/other': [{ provider: 'acme', upstream: 'echo' }],
    'globex/echo': [{ provider: 'globex', upstream: 'echo' }],
  },
  providers: { acme: ours, globex: { ...ours, accepts_byok_header: true } },
  moreWorkspaces: [
    {
      id: 'own',
      credit_usd: '10',
      keys: [
        { name: 'first', key: keys.main },
        { name: 'second', key: keys.second },
        { name: 'narrow', key: keys.narrow, models: ['acme/other'] },
        { name: 'limited', key: keys.limited, rpm: 1 },
      ],
    },
    { id: 'stranger', credit_usd: '1', keys: [{ name: 'first', key: keys.stranger }] },
    { id: 'byok', credit_usd: '1', features: { byok: true }, keys: [{ name: 'first', key: keys.byok }] },
    {
      id: 'always',
      credit_usd: '1',
      features: { byok: true },
      byok: { connections: [{ provider: 'globex', key: { env: 'GW_TEST_STORED_CONNECTION' }, policy: 'always' }] },
      keys: [{ name: 'first', key: keys.always }],
    },
  ],
};

let gateway: Harness;
beforeAll(async () => {
  Object.assign(process.env, { GW_TEST_STORED: ourKey, GW_TEST_STORED_CONNECTION: storedKey });
  gateway = await startHarness(file);
});
afterAll(async () => {
  await gateway.stop();
  for (const name of ['GW_TEST_STORED', 'GW_TEST_STORED_CONNECTION']) delete process.env[name];
});
afterEach(() => gateway.simulator.clear());

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const send = (path: string, init: RequestInit = {}) =>
  fetch(`${gateway.url}${path}`, { ...init, headers: { ...bearer(keys.main), ...init.headers } });
const client = (base: '/v1' | '/openai/v1' = '/openai/v1') =>
  new OpenAI({ apiKey: keys.main, baseURL: new URL(base, gateway.url).href, maxRetries: 0 });
const make = async (body: Json = {}, headers: Record<string, string> = {}) => {
  const response = await gateway.postTo(
    '/responses',
    { model: 'acme/echo', input: 'Hello', ...body },
    { ...bearer(keys.main), ...headers },
  );
  const text = await response.text();
  expect({ status: response.status, text }).toMatchObject({ status: 200 });
  const id = /resp_[0-9a-f]+/.exec(text)?.[0] ?? '';
  await gateway.settled();
  gateway.simulator.clear();
  return { id, text };
};
/** Returns the provider calls: method, path after the base URL, and credential. */
const providerCalls = () =>
  gateway.simulator.calls.map(({ method, path, query, headers }) => [
    `${method} ${path.replace(/^.*\/v1/, '')}${query && `?${query}`}`,
    headers.authorization?.replace('Bearer ', ''),
  ]);

describe("OpenAI's client", () => {
  it.each(['/v1', '/openai/v1'] as const)(
    'reads, lists the input of, and deletes a response below %s',
    async (base) => {
      const openai = client(base);
      const input = [1, 2, 3].map((number) => ({ role: 'user' as const, content: `Number ${number}` }));
      const response = await openai.responses.create({ model: 'acme/echo', input });
      const { usage, ...rest } = response;
      expect(await openai.responses.retrieve(response.id)).toMatchObject({
        ...rest,
        usage: { input_tokens: usage?.input_tokens, output_tokens: usage?.output_tokens },
      });
      const items: unknown[] = [];
      for await (const item of openai.responses.inputItems.list(response.id, { limit: 2, order: 'asc' }))
        items.push(item);
      expect(items).toMatchObject(input);
      await openai.responses.delete(response.id);
      await expect(openai.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
      await expect(openai.responses.inputItems.list(response.id)).rejects.toMatchObject({ status: 404 });
    },
  );

  it('streams a response again, from any event on', async () => {
    const openai = client();
    const streamEvents: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of await openai.responses.create({ model: 'acme/echo', input: 'Hello', stream: true }))
      streamEvents.push(event);
    const id = streamEvents.flatMap((event) => ('response' in event ? [event.response.id] : []))[0] ?? '';
    const again: unknown[] = [];
    for await (const event of await openai.responses.retrieve(id, { stream: true, starting_after: 2 }))
      again.push(event);
    expect(again).toEqual(streamEvents.slice(3));
  });

  it('cancels what runs in the background at the provider, and gets its words if nothing does', async () => {
    const { id } = await make();
    await expect(client().responses.cancel(id)).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      message: expect.stringContaining('Cannot cancel a synchronous response.'),
    });
    const background = await fetch(`${gateway.simulator.urlOf('acme')}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(ourKey) },
      body: JSON.stringify({ model: 'echo', input: 'Hello', background: true }),
    });
    const { id: running } = (await background.json()) as { id: string };
    await gateway.composition.providerAffinity.remember('own', { newIds: [running] }, { provider: 'acme' });
    expect(await client().responses.cancel(running)).toMatchObject({ id: running, status: 'cancelled' });
  });

  it('counts the tokens of an input', async () => {
    const tokenCount = await client().responses.inputTokens.count({ model: 'acme/echo', input: 'One two three' });
    expect(tokenCount).toMatchObject({ object: 'response.input_tokens', input_tokens: expect.any(Number) });
  });

  it('compacts a conversation', async () => {
    const input = [{ role: 'user' as const, content: 'One' }];
    const compacted = await client().responses.compact({ model: 'acme/echo', input });
    expect(compacted).toMatchObject({ object: 'response.compaction', usage: { cost: expect.any(Number) } });
    expect(compacted.output.at(-1)).toMatchObject({ type: 'compaction', encrypted_content: expect.any(String) });
  });
});

/** Returns every request about a response. */
const ways = (id: string): readonly (readonly [string, RequestInit])[] => [
  [`/responses/${id}`, {}],
  [`/responses/${id}?stream=true`, {}],
  [`/responses/${id}`, { method: 'DELETE' }],
  [`/responses/${id}/cancel`, { method: 'POST' }],
  [`/responses/${id}/input_items`, {}],
];

describe('a stored response', () => {
  it('is as unknown to another workspace as a response that does not exist, and no provider is called', async () => {
    const { id } = await make();
    const { id: unkept } = await make({ store: false });
    for (const [unknown, key] of [
      [id, keys.stranger],
      ['resp_none', keys.main],
      [unkept, keys.main],
      ['..%2Fmodels', keys.main],
    ] as const) {
      for (const [path, init] of ways(unknown)) {
        const error = await expectError(await send(path, { ...init, headers: bearer(key) }), 404, 'not_found');
        expect(error.message).toContain('There is no response "');
      }
    }
    expect(providerCalls()).toEqual([]);
    expect((await send(`/responses/${id}`, { headers: bearer(keys.second) })).status).toBe(200);
  });

  it('comes byte for byte as its provider has it, events too, with the query of the client', async () => {
    const { id, text } = await make({ stream: true });
    const streamResponse = await send(`/responses/${id}?stream=true&include[]=reasoning.encrypted_content`);
    expect([streamResponse.headers.get('content-type'), streamResponse.headers.get('x-gw-provider')]).toEqual([
      'text/event-stream; charset=utf-8',
      'acme',
    ]);
    expect(await streamResponse.text()).toBe(text);
    const direct = await fetch(`${gateway.simulator.urlOf('acme')}/responses/${id}`, { headers: bearer(ourKey) });
    const read = await send(`/responses/${id}?include=a&include=b`);
    expect(await read.text()).toBe(await direct.text());
    expect(providerCalls().map(([path]) => path)).toEqual([
      `GET /responses/${id}?stream=true&include[]=reasoning.encrypted_content`,
      `GET /responses/${id}`,
      `GET /responses/${id}?include=a&include=b`,
    ]);
  });

  it('costs nothing, leaves no record and reserves nothing, and each request counts for its key', async () => {
    const { id } = await make();
    const before = await gateway.credit('own');
    const records = (await gateway.records('own')).length;
    const readLimited = () => send(`/responses/${id}`, { headers: bearer(keys.limited) });
    expect((await readLimited()).status).toBe(200);
    await expectError(await readLimited(), 429, 'api_key_rate_limit');
    expect(providerCalls()).toHaveLength(1);
    await gateway.settled();
    expect(await gateway.credit('own')).toEqual(before);
    expect(await gateway.records('own')).toHaveLength(records);
  });

  it('is no more to a key than its list of models', async () => {
    const { id } = await make();
    for (const [path, init] of ways(id)) {
      const unknown = await send(path, { ...init, headers: bearer(keys.narrow) });
      expect((await expectError(unknown, 404, 'not_found')).message).not.toContain('acme/');
    }
    expect(providerCalls()).toEqual([]);
    const { id: allowed } = await make({ model: 'acme/other' });
    expect((await send(`/responses/${allowed}`, { headers: bearer(keys.narrow) })).status).toBe(200);
  });

  it('refuses a key that is wrong, and headers and queries that are malformed', async () => {
    const { id } = await make();
    await expectError(await send(`/responses/${id}`, { headers: bearer(newKey()) }), 401, 'UNAUTHORIZED');
    await expectError(await send(`/responses/${id}?key=${keys.main}`), 400, 'invalid_request');
    await expectError(
      await send(`/responses/${id}`, { headers: { 'x-gw-session-id': 'ä' } }),
      400,
      'invalid_correlation',
    );
    await expectError(await send(`/responses/${id}`, { headers: { 'x-byok-key': 'k' } }), 403, 'byok_not_enabled');
    expect(providerCalls()).toEqual([]);
  });

  it('has the methods that its paths name, and answers HEAD and OPTIONS', async () => {
    const { id } = await make();
    const allow = async (path: string, method: string) => {
      const response = await send(path, { method });
      await expectError(response.clone(), 405, 'method_not_allowed');
      return response.headers.get('allow');
    };
    expect(await allow(`/responses/${id}`, 'POST')).toBe('GET, HEAD, DELETE, OPTIONS');
    expect(await allow(`/responses/${id}/cancel`, 'GET')).toBe('POST, OPTIONS');
    expect(await allow(`/responses/${id}/input_items`, 'POST')).toBe('GET, HEAD, OPTIONS');
    expect(await allow('/responses/compact', 'GET')).toBe('POST, OPTIONS');
    expect(await allow('/responses/input_tokens', 'GET')).toBe('POST, OPTIONS');
    const head = await send(`/responses/${id}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const options = await send(`/responses/${id}`, { method: 'OPTIONS' });
    expect(options.headers.get('access-control-allow-methods')).toContain('DELETE');
  });
});

describe('the key that a response is asked with', () => {
  it("is the client's own if that made it, and with no other", async () => {
    const headers = { ...bearer(keys.byok), 'x-byok-key': 'client-key' };
    const { id } = await make({ model: 'globex/echo', provider: { only: 'globex' } }, headers);
    const error = await expectError(
      await send(`/responses/${id}`, { headers: bearer(keys.byok) }),
      422,
      'byok_no_eligible_connection',
    );
    expect(error.message).toContain('send it in x-byok-key');
    expect(providerCalls()).toEqual([]);
    expect((await send(`/responses/${id}`, { headers })).status).toBe(200);
    expect(providerCalls()).toEqual([[`GET /responses/${id}`, 'client-key']]);
  });

  it("is the client's own for what goes on from it, and with no other", async () => {
    const headers = { ...bearer(keys.byok), 'x-byok-key': 'client-key' };
    const request = { model: 'globex/echo', provider: { only: 'globex' } };
    const { id } = await make(request, headers);
    const next = { ...request, input: 'Go on', previous_response_id: id };
    const refusal = await gateway.postTo('/responses', next, bearer(keys.byok));
    const { message } = await expectError(refusal, 422, 'byok_no_eligible_connection');
    expect(message).toContain('previous_response_id: was made with a key of your own');
    expect(providerCalls()).toEqual([]);
    expect((await gateway.postTo('/responses', next, headers)).status).toBe(200);
    expect(providerCalls()).toEqual([['POST /responses', 'client-key']]);
  });

  it("is the workspace's connection if that made it, and never with the gateway's key if one always applies", async () => {
    const ofWorkspace = bearer(keys.always);
    const { id } = await make({ model: 'globex/echo' }, ofWorkspace);
    expect((await send(`/responses/${id}`, { headers: ofWorkspace })).status).toBe(200);
    expect(providerCalls()).toEqual([[`GET /responses/${id}`, storedKey]]);
    gateway.simulator.clear();
    await gateway.composition.providerAffinity.remember('always', { newIds: ['resp_early'] }, { provider: 'globex' });
    await expectError(
      await send('/responses/resp_early', { headers: ofWorkspace }),
      422,
      'byok_no_eligible_connection',
    );
    await expectError(
      await send(`/responses/${id}`, { headers: { ...ofWorkspace, 'x-byok-key': 'k' } }),
      400,
      'byok_credential_conflict',
    );
    expect(providerCalls()).toEqual([]);
  });
});
