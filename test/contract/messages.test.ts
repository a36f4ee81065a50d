// Messages for developers say which limit was met, for how long, where to look, and which name was probably meant.

import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { dataLines, type Harness, hello, startHarness } from '../support/harness.ts';

const narrowKey = newKey();
const poorKey = newKey();
let gateway: Harness;
beforeAll(async () => {
  gateway = await startHarness({
    service: { queue_ms: 0 },
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
      'acme/limited': [
        { provider: 'acme', upstream: 'echo:limited', more: { rate_limit_rpm: 1, rate_limit_tpd: 1_000_000 } },
      ],
      'acme/busy': [{ provider: 'busy', upstream: 'error-429:x:90' }],
      'acme/failing': [
        { provider: 'down', upstream: 'error-500' },
        { provider: 'gone', upstream: 'error-503' },
      ],
      'acme/answering': [{ provider: 'answering', upstream: 'echo' }],
      'acme/vectors': [{ provider: 'vectors', upstream: 'echo' }],
    },
    providers: { answering: { apis: ['chat-completions', 'responses'] }, vectors: { apis: ['embeddings'] } },
    workspace: {
      features: { presets: true },
      presets: [{ slug: 'terse', versions: [{ version: '1', config: { temperature: 0 } }], designated: '1' }],
      functions: [
        promptFunction('label-ticket', 'acme/echo'),
        { ...promptFunction('broken', 'acme/failing'), active: 'r1' },
        { ...promptFunction('off', 'acme/echo'), status: 'disabled' },
        { ...promptFunction('draft', 'acme/echo', { state: 'draft' }), active: null },
        promptFunction('over', 'acme/echo', { expires_at: '2020-01-01T00:00:00Z' }),
      ],
    },
    moreWorkspaces: [
      { id: 'narrow', credit_usd: '1', keys: [{ name: 'narrow', key: narrowKey, rpm: 1 }] },
      { id: 'poor', credit_usd: '0', keys: [{ name: 'poor', key: poorKey }] },
    ],
  });
});
afterAll(() => gateway.stop());

const origin = () => new URL(gateway.url).origin;
const messageOf = async (body: unknown, headers: Record<string, string> = {}) =>
  ((await (await gateway.post(body, headers)).json()) as { message: string }).message;
const callFunction = (id: string) => ({ model: `gw/function/${id}`, messages: [{ role: 'user', content: 'Hello' }] });
const withUuid = () => ({ 'idempotency-key': crypto.randomUUID() });

describe('a refusal for a limit says the limit and the wait', () => {
  it('of the key', async () => {
    const headers = { authorization: `Bearer ${narrowKey}` };
    await (await gateway.post(hello('acme/echo'), headers)).text();
    const refusal = await gateway.post(hello('acme/echo'), headers);
    const { message } = await expectError(refusal, 429, 'api_key_rate_limit');
    const wait = refusal.headers.get('retry-after');
    expect(message).toBe(`The key may make 1 requests a minute, and has made them; try again in ${wait} s.`);
  });

  it('of a provider, if the gateway keeps it', async () => {
    await (await gateway.post(hello('acme/limited'))).text();
    const refusal = await gateway.post(hello('acme/limited'));
    const { message } = await expectError(refusal, 429, 'rate_limited');
    const wait = refusal.headers.get('retry-after');
    expect(message).toBe(`Limits are reached: acme 1 requests a minute, 1000000 tokens a day; try again in ${wait} s.`);
  });

  it('and the true wait if the provider itself refused for longer than the header can say', async () => {
    const refusal = await gateway.post(hello('acme/busy'));
    const { message } = await expectError(refusal, 429, 'rate_limited');
    expect(message).toBe('All eligible providers are rate limited; try again in 90 s.');
    expect(refusal.headers.get('retry-after')).toBe('60');
  });
});

describe('a failure of every provider says where to look', () => {
  it.each([
    ['of a plain call', hello('acme/failing'), 'no_available_provider'],
    ['of a function', callFunction('broken'), 'execution_failed'],
  ])('%s: the address in it shows each attempt', async (_title, body, code) => {
    const { message, correlation_id: id } = await expectError(await gateway.post(body, withUuid()), 502, code);
    expect(message).toContain(`GET /v1/generation?id=${id} shows each attempt`);
    await gateway.settled();
    const [, path = ''] = /GET (\S+)/.exec(message) ?? [];
    const found = await gateway.get(path.slice('/v1'.length));
    const { data } = (await found.json()) as { data: { attempts: { provider: string }[] } };
    expect(data.attempts.map(({ provider }) => provider)).toEqual(['down', 'gone']);
  });
});

describe('a refusal speaks the words of the interface that was called', () => {
  const post = (path: string, body: unknown, key: string) =>
    gateway.postTo(path, body, { authorization: `Bearer ${key}` });

  it('of a key it says what is wrong with it, and names no header that agents take for a log-in of their own', async () => {
    const response = await post('/messages', hello('acme/echo'), 'nonsense');
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain('does not have the form of a key of this gateway');
    expect(error.message).not.toContain('x-api-key');
  });

  it('of a count of tokens it names the interface that the list of models names', async () => {
    const response = await post('/messages/count_tokens', { ...hello('acme/vectors'), max_tokens: 1 }, gateway.key);
    const { error } = (await response.json()) as { error: { message: string } };
    expect(error.message).toContain('serves the interface messages:');
  });

  it.each([
    ['/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }],
    ['/responses', { input: 'Hi' }],
  ])('of money it names the bound that %s takes', async (path, body) => {
    const { message } = await expectError(
      await post(path, { model: 'acme/answering', ...body }, poorKey),
      402,
      'PAYMENT_REQUIRED',
    );
    expect(message).toContain(
      'Without max_tokens (on Responses max_output_tokens) the price of all that the model may write is reserved',
    );
  });
});

describe('a name that does not exist', () => {
  it.each([
    ['label-tiket', 'Did you mean "gw/function/label-ticket"?'],
    ['weather-report', 'GET /v1/models?functions=true lists the functions there are.'],
  ])('of a function brings the nearest: %s', async (id, hint) => {
    const { message } = await expectError(await gateway.post(callFunction(id), withUuid()), 404, 'function_not_found');
    expect(message).toBe(`The workspace has no such function. ${hint}`);
  });

  it('of a revision brings the nearest', async () => {
    const message = await messageOf(callFunction('label-ticket@r2'), withUuid());
    expect(message).toBe('The function has no such activated revision. Did you mean "r1"?');
  });

  it.each([
    ['ters', 'There is no preset "ters". Did you mean "terse"?'],
    ['pirate-voice', 'There is no preset "pirate-voice". There are: terse.'],
    ['terse@2', 'The preset "terse" has no version "2". There are: 1.'],
  ])('of a preset brings the nearest, or those that there are: %s', async (preset, message) => {
    const response = await gateway.post(hello('acme/echo', { preset }));
    expect((await expectError(response, 404, 'preset_not_found')).message).toBe(message);
  });
});

describe('the functions that a key can call', () => {
  it('come behind the models if they are asked for, without those that a call would be refused for', async () => {
    for (const base of ['/v1', '/openai/v1']) {
      const client = new OpenAI({ baseURL: `${origin()}${base}`, apiKey: gateway.key });
      const ids: string[] = [];
      for await (const { id } of client.models.list({ query: { functions: 'true' } })) ids.push(id);
      expect(ids).toEqual([
        'auto',
        'acme/echo',
        'acme/limited',
        'acme/busy',
        'acme/failing',
        'acme/answering',
        'acme/vectors',
        'gw/function/broken',
        'gw/function/label-ticket',
      ]);
      const one = await client.models.retrieve('gw/function/label-ticket');
      expect(one).toEqual({
        ...{ id: 'gw/function/label-ticket', object: 'model', created: expect.any(Number), owned_by: 'gw' },
        ...{ display_name: 'label-ticket', kind: 'prompt', revision: 'r1', expires_at: null },
      });
    }
  });

  it('are not those of another workspace, and not listed if they are not asked for', async () => {
    const idsOf = async (path: string, key: string) => {
      const response = await gateway.get(path, { authorization: `Bearer ${key}` });
      return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    for (const ids of [await idsOf('/models?functions=true', narrowKey), await idsOf('/models', gateway.key)]) {
      expect(ids.filter((id) => id.startsWith('gw/function/'))).toEqual([]);
    }
    const hidden = await gateway.get('/models/gw/function/label-ticket', { authorization: `Bearer ${narrowKey}` });
    await expectError(hidden, 400, 'unknown_model');
  });
});

describe('the usage chunk of a stream below /openai/v1', () => {
  const chunksOf = async (base: string, more: object) => {
    const response = await fetch(`${origin()}${base}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify(hello('acme/echo', { stream: true, ...more })),
    });
    const chunks = dataLines(await response.text())
      .slice(0, -1)
      .map((line) => JSON.parse(line));
    return chunks.filter(({ usage }) => (usage ?? null) !== null);
  };
  const options = { stream_options: { include_usage: true } };

  it('carries the cost for a client that set include_usage, once; below /v1 it is the provider’s own', async () => {
    const [chunk, ...others] = await chunksOf('/openai/v1', options);
    expect(others).toEqual([]);
    expect(chunk).toMatchObject({ choices: [], usage: { cost: expect.any(Number), provider: 'acme' } });
    expect(chunk.usage.cost).toBeGreaterThan(0);
    expect(await chunksOf('/openai/v1', {})).toEqual([]);
    const [plain] = await chunksOf('/v1', options);
    expect(plain.usage).not.toHaveProperty('cost');
  });
});
