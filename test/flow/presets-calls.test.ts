// Presets are part of a request that the workspace wrote beforehand. The request's own fields win, and policies only
// become tighter.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const versions = [
  { version: '1', config: { temperature: 0, max_tokens: 64, metadata: { from: 'one', isFixed: true } } },
  { version: '2', config: { temperature: 1, provider: { sort: 'price', zdr: true } } },
];
const presets = [
  { slug: 'terse', versions, designated: '1' },
  { slug: 'pinned', versions: [{ version: 'a', config: { provider: { only: ['loose'] } } }], designated: 'a' },
  { slug: 'streamed', versions: [{ version: 'a', config: { stream: true, cache: { ttl: 9 } } }], designated: 'a' },
  { slug: 'named', versions: [{ version: 'a', config: { model: 'acme/echo' } }], designated: 'a' },
  { slug: 'list', versions: [{ version: 'a', config: { models: ['acme/failing', 'acme/echo'] } }], designated: 'a' },
  {
    slug: 'both',
    versions: [{ version: 'a', config: { model: 'acme/failing', models: ['acme/echo'] } }],
    designated: 'a',
  },
  { slug: 'nowhere', versions: [{ version: 'a', config: { model: 'acme/nowhere' } }], designated: 'a' },
  { slug: 'function', versions: [{ version: 'a', config: { model: 'gw/function/any' } }], designated: 'a' },
  { slug: 'broken', versions: [{ version: 'a', config: { temperature: 'hot' } }], designated: 'a' },
];

describe('a preset', () => {
  let harness: Harness;
  const without = newKey();

  beforeAll(async () => {
    harness = await startHarness({
      models: {
        'acme/echo': [
          { provider: 'loose', upstream: 'echo' },
          { provider: 'strict', upstream: 'echo', more: { output_price_per_million: '9' } },
        ],
        'acme/other': [{ provider: 'loose', upstream: 'usage:7:7' }],
        'acme/failing': [{ provider: 'loose', upstream: 'error-500' }],
      },
      providers: { strict: { data_policy: { zdr: true } } },
      workspace: { features: { presets: true }, presets },
      moreWorkspaces: [{ id: 'other', credit_usd: '1', presets, keys: [{ name: 'k', key: without }] }],
    });
  });
  afterAll(() => harness.stop());
  beforeEach(() => harness.simulator.clear());

  async function sentFor(members: Record<string, unknown>) {
    const response = await harness.post(hello('acme/echo', members));
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    const [call, ...more] = harness.simulator.calls;
    expect(more).toEqual([]);
    harness.simulator.clear();
    const body = call?.body as Record<string, unknown>;
    for (const name of ['preset', 'provider', 'cache', 'usage']) expect(body).not.toHaveProperty(name);
    const { model: _model, messages: _messages, ...rest } = body;
    return { provider: call?.provider, rest };
  }

  it('by its slug is its designated version; by slug@version or version the one that is named', async () => {
    const first = { provider: 'loose', rest: versions[0]?.config };
    for (const preset of [
      'terse',
      'terse@1',
      { slug: 'terse' },
      { slug: 'terse', version: '1' },
      { slug: 'terse', version: null },
    ]) {
      expect(await sentFor({ preset })).toEqual(first);
    }
    for (const preset of ['terse@2', { slug: 'terse', version: '2' }]) {
      expect(await sentFor({ preset })).toEqual({ provider: 'strict', rest: { temperature: 1 } });
    }
    expect(await sentFor({ preset: null })).toEqual({ provider: 'loose', rest: {} });
  });

  it('gives way to the request, field by field and whole fields', async () => {
    expect(await sentFor({ preset: 'terse', temperature: 0.5, metadata: { mine: 1 } })).toEqual({
      provider: 'loose',
      rest: { temperature: 0.5, max_tokens: 64, metadata: { mine: 1 } },
    });
    expect((await sentFor({ preset: 'terse', max_completion_tokens: 7 })).rest).toEqual({
      temperature: 0,
      max_completion_tokens: 7,
      metadata: { from: 'one', isFixed: true },
    });
    expect((await sentFor({ preset: 'pinned' })).provider).toBe('loose');
    expect((await sentFor({ preset: 'pinned', provider: { only: 'strict' } })).provider).toBe('strict');
  });

  const messages = [{ role: 'user', content: 'Hi' }];

  it.each([
    [{ preset: 'named' }, ['echo'], 'acme/echo'],
    [{ preset: 'named', model: null, models: null }, ['echo'], 'acme/echo'],
    [{ preset: 'list' }, ['error-500', 'echo'], 'acme/echo'],
    [{ preset: 'both' }, ['error-500', 'echo'], 'acme/echo'],
    [{ preset: 'both', model: 'acme/other' }, ['usage:7:7'], 'acme/other'],
    [{ preset: 'both', models: ['acme/other'] }, ['usage:7:7'], 'acme/other'],
    [{ preset: 'list', model: 'acme/failing' }, ['error-500', 'echo'], 'acme/echo'],
  ])('names the models of a request that names none: %j', async (members, upstreams, model) => {
    for (const stream of [false, true]) {
      const headers = { 'idempotency-key': `${JSON.stringify(members)}-${stream}` };
      const response = await harness.post({ messages, stream, ...members }, headers);
      expect([response.status, response.headers.get('x-gw-model')]).toEqual([200, model]);
      const text = await response.text();
      await harness.settled();
      const calledModels = harness.simulator.calls.map(({ body }) => (body as { model?: unknown }).model);
      expect(calledModels).toEqual(upstreams);
      expect((await harness.records()).at(-1)).toMatchObject({ modelServed: model });
      const again = await harness.post({ messages, stream, ...members }, headers);
      expect(await again.text()).toBe(text);
      expect(harness.simulator.calls).toHaveLength(upstreams.length);
      harness.simulator.clear();
    }
  });

  it('brings no model: the request is refused by the field that is missing, and so is an unknown model of a preset', async () => {
    const post = (preset: string | null) => harness.post({ messages, preset });
    expect(await expectError(await post('terse'), 400, 'invalid_request')).toMatchObject({
      message: 'model: is missing',
    });
    expect(await expectError(await post(null), 400, 'invalid_request')).toMatchObject({ message: 'model: is missing' });
    await expectError(await post('nowhere'), 400, 'unknown_model');
    await expectError(await post('function'), 400, 'unknown_model');
    await expectError(await post('nobody'), 404, 'preset_not_found');
    expect(harness.simulator.calls).toHaveLength(0);
  });

  it('tightens data policies, and no request loosens them again', async () => {
    expect((await sentFor({ preset: 'terse@2', provider: { sort: 'price' } })).provider).toBe('strict');
    const loosened = await harness.post(hello('acme/echo', { preset: 'terse@2', provider: { zdr: false } }));
    await expectError(loosened, 422, 'data_policy_loosening_forbidden');
    const storedAnswer = await harness.post(hello('acme/echo', { preset: 'terse@2', store: true }));
    await expectError(storedAnswer, 422, 'data_policy_loosening_forbidden');
    const nobody = await harness.post(hello('acme/echo', { preset: 'terse@2', provider: { only: 'loose' } }));
    await expectError(nobody, 422, 'no_policy_compliant_provider');
    const cached = await harness.post(hello('acme/echo', { preset: 'terse@2', cache: {} }));
    expect(cached.headers.get('x-gw-cache')).toBe('BYPASS');
    await cached.text();
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it('may ask for a stream and for the cache', async () => {
    const response = await harness.post(hello('acme/echo', { preset: 'streamed' }));
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-gw-cache')).toBe('MISS');
    expect(await response.text()).toMatch(/data: \[DONE\]\n\n$/);
    const schema = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
    const both = await harness.post(hello('acme/echo', { preset: 'streamed', response_format: schema }));
    await expectError(both, 400, 'schema_streaming_unsupported');
  });

  it.each([
    'nobody',
    'terse@3',
    { slug: 'terse@1' },
    'constructor',
    'Terse',
    { slug: 'terse', version: '0' },
    'terse@'.padEnd(40, 'x'),
    'terse@',
    '@1',
    '',
    'terse@1@1',
    'x'.repeat(200),
    { slug: '' },
  ])('that the workspace does not have is preset_not_found, and no provider is called: %j', async (preset) => {
    await expectError(await harness.post(hello('acme/echo', { preset })), 404, 'preset_not_found');
    expect(harness.simulator.calls).toHaveLength(0);
  });

  it('is preset_not_found if presets are not enabled', async () => {
    const response = await harness.post(hello('acme/echo', { preset: 'terse' }), {
      authorization: `Bearer ${without}`,
    });
    await expectError(response, 404, 'preset_not_found');
    expect(harness.simulator.calls).toHaveLength(0);
  });

  it('that is itself not valid is not blamed on the request', async () => {
    const response = await harness.post(hello('acme/echo', { preset: 'broken', temperature: 0 }));
    const { message } = await expectError(response, 400, 'invalid_request');
    expect(message).toMatch(/^The preset is not valid/);
    expect(harness.simulator.calls).toHaveLength(0);
  });
});
