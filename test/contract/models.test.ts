import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { readKeySpending } from '../../shared/accounting/holds/index.ts';
import { createKeyStore, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey, promptFunction } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

type Json = Record<string, unknown>;

const modelMembers = [
  'id',
  'object',
  'created',
  'owned_by',
  'display_name',
  'context_length',
  'input_price_per_million',
  'output_price_per_million',
  'modalities',
  'routable',
  'providers',
  'stats',
];
const providerMembers = [
  'provider',
  'provider_display_name',
  'input_price_per_million',
  'output_price_per_million',
  'context_length',
  'routable',
  'supported_params',
  'rate_limit_rpm',
  'rate_limit_tpm',
  'rate_limit_tpd',
  'max_output_tokens',
];

describe('the model list', () => {
  let gateway: Harness;
  const narrowKey = newKey();

  beforeAll(async () => {
    const unpriced = { input_price_per_million: null, output_price_per_million: null };
    const limits = {
      rate_limit_rpm: 600,
      rate_limit_tpm: 90_000,
      rate_limit_tpd: null,
      input_price_per_million: '0.15',
    };
    gateway = await startHarness({
      models: {
        'acme/large': [
          { provider: 'acme', upstream: 'echo', more: { supported_params: { tools: true, extras: ['plugins'] } } },
          { provider: 'bolt', upstream: 'echo', more: limits },
        ],
        'acme/unpriced': [
          { provider: 'acme', upstream: 'echo', more: unpriced },
          { provider: 'off', upstream: 'echo' },
        ],
        'acme/unpaid': [{ provider: 'acme', upstream: 'echo', more: unpriced }],
        'acme/nobody': [],
        'many/apis': [
          { provider: 'claude', upstream: 'echo' },
          { provider: 'vectors', upstream: 'echo' },
        ],
        'many/vectors': [{ provider: 'vectors', upstream: 'echo' }],
        'many/translated': [{ provider: 'nova', upstream: 'echo' }],
      },
      providers: {
        off: { status: 'disabled' },
        claude: { apis: ['messages'] },
        vectors: { apis: ['embeddings'] },
        nova: { apis: ['generate-content', 'converse'] },
      },
      moreWorkspaces: [
        {
          id: 'narrow',
          credit_usd: '5',
          models: ['acme/nobody', 'acme/unpriced'],
          keys: [{ name: 'narrow', key: narrowKey }],
        },
      ],
    });
  });
  afterAll(() => gateway.stop());

  async function list(key = gateway.key): Promise<Json[]> {
    const response = await gateway.get('/models', { authorization: `Bearer ${key}` });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    const body = (await response.json()) as Json;
    expect(Object.keys(body).toSorted()).toEqual(['data', 'object']);
    expect(body.object).toBe('list');
    return body.data as Json[];
  }

  it('begins with auto and nothing but its four fields', async () => {
    const [first] = await list();
    expect(first).toEqual({ id: 'auto', object: 'model', created: 0, owned_by: 'gw' });
  });

  it('has exactly the fields of the specification in every other element', async () => {
    const [, ...models] = await list();
    expect(models.map(({ id }) => id)).toEqual([
      'acme/large',
      'acme/unpriced',
      'many/apis',
      'many/vectors',
      'many/translated',
    ]);
    for (const { apis: _apis, translated_apis: _translatedApis, ...model } of models) {
      expect(Object.keys(model).toSorted()).toEqual(modelMembers.toSorted());
      expect(Object.keys(model.stats as Json).toSorted()).toEqual(['median_latency_ms', 'throughput_rpm', 'uptime']);
      for (const provider of model.providers as Json[]) {
        expect(Object.keys(provider).toSorted()).toEqual(providerMembers.toSorted());
        const params = provider.supported_params as Json;
        expect(Object.keys(params).toSorted()).toEqual(['json_mode', 'json_schema', 'tools', 'vision']);
        expect(Object.values(params).every((value) => typeof value === 'boolean')).toBe(true);
      }
    }
  });

  it('gives every field the type of the specification', async () => {
    const [, large] = await list();
    expect(large).toMatchObject({
      id: 'acme/large',
      object: 'model',
      created: 1_760_000_000,
      owned_by: 'gw',
      display_name: 'Model acme/large',
      context_length: 128_000,
      input_price_per_million: '0.15',
      output_price_per_million: '2.00',
      modalities: ['text', 'image'],
      routable: true,
    });
    expect(large?.stats).toEqual({
      median_latency_ms: expect.any(Number),
      throughput_rpm: expect.stringMatching(/^\d+(\.\d+)?$/),
      uptime: expect.stringMatching(/^(0(\.\d+)?|1(\.0+)?)$/),
    });
    expect(large?.providers).toEqual([
      expect.objectContaining({
        provider: 'acme',
        provider_display_name: 'Provider acme',
        input_price_per_million: '1.00',
        routable: true,
        supported_params: { tools: true, vision: false, json_mode: false, json_schema: false },
        rate_limit_rpm: null,
        rate_limit_tpm: null,
        rate_limit_tpd: null,
        max_output_tokens: 4_096,
      }),
      expect.objectContaining({ provider: 'bolt', rate_limit_rpm: 600, rate_limit_tpm: 90_000, rate_limit_tpd: null }),
    ]);
  });

  it('names the interfaces of a model only if one is not chat completions, which providers of other formats serve too', async () => {
    const models = await list();
    expect(models.map((model) => [model.id, model.apis])).toEqual([
      ['auto', undefined],
      ['acme/large', ['chat-completions', 'messages', 'responses', 'converse', 'generate-content']],
      ['acme/unpriced', ['chat-completions', 'messages', 'responses', 'converse', 'generate-content']],
      ['many/apis', ['chat-completions', 'messages', 'responses', 'converse', 'generate-content', 'embeddings']],
      ['many/vectors', ['embeddings']],
      ['many/translated', ['chat-completions', 'messages', 'responses', 'converse', 'generate-content']],
    ]);
    expect(models.filter((model) => 'apis' in model)).toHaveLength(5);
    expect(
      models.filter((model) => 'translated_apis' in model).map(({ id, translated_apis: apis }) => [id, apis]),
    ).toEqual([
      ['acme/large', ['messages', 'responses', 'converse', 'generate-content']],
      ['acme/unpriced', ['messages', 'responses', 'converse', 'generate-content']],
      ['many/apis', ['chat-completions', 'responses', 'converse', 'generate-content']],
      ['many/translated', ['chat-completions', 'messages', 'responses']],
    ]);
  });

  it('keeps prices strings if none is set, and says that the model cannot be routed to', async () => {
    const models = await list();
    const unpriced = models.find(({ id }) => id === 'acme/unpriced');
    expect(unpriced).toMatchObject({ input_price_per_million: '0', output_price_per_million: '0', routable: false });
    expect(unpriced?.providers).toEqual([
      expect.objectContaining({ input_price_per_million: '0', output_price_per_million: '0', routable: false }),
      expect.objectContaining({ provider: 'off', routable: false }),
    ]);
    // A model without an entry, or without a price and a key, could never serve the workspace.
    for (const id of ['acme/nobody', 'acme/unpaid']) {
      expect(models.find((model) => model.id === id)).toBeUndefined();
      await expectError(await gateway.get(`/models/${id}`), 400, 'unknown_model');
    }
  });

  it('says of models that are not routable what a call to them says', async () => {
    gateway.simulator.clear();
    await expectError(await gateway.post(hello('acme/unpriced')), 400, 'model_not_routable');
    await expectError(await gateway.post(hello('acme/nobody')), 400, 'model_not_routable');
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('is never kept by a cache on the way', async () => {
    const response = await gateway.get('/models');
    expect(response.headers.get('cache-control')).toContain('no-store');
    await response.text();
  });
});

// The model list is that of the caller's workspace.
describe('for a workspace', () => {
  const [strict, open, connected, bound, off] = Array.from({ length: 5 }, newKey) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const byokVariable = 'GW_TEST_LISTED_BYOK_KEY';
  const withConnection = (id: string, policy: string) => ({
    id,
    credit_usd: '1',
    byok: { connections: [{ provider: 'careful', key: { env: byokVariable }, policy }] },
  });
  const unpriced = { input_price_per_million: null, output_price_per_million: null };

  let gateway: Harness;
  beforeAll(async () => {
    process.env[byokVariable] = 'sk-key-of-the-client';
    gateway = await startHarness({
      models: {
        'acme/mixed': [
          { provider: 'careful', upstream: 'echo' },
          { provider: 'cheap', upstream: 'echo', more: { input_price_per_million: '0.10' } },
        ],
        'acme/cheap-only': [{ provider: 'cheap', upstream: 'echo' }],
        'acme/unpriced': [{ provider: 'careful', upstream: 'echo', more: unpriced }],
        'acme/by-header': [{ provider: 'taking', upstream: 'echo', more: unpriced }],
      },
      providers: { careful: { data_policy: { zdr: true } }, taking: { accepts_byok_header: true } },
      moreWorkspaces: [
        { id: 'strict', credit_usd: '1', data_policy: { zdr: true }, keys: [{ name: 'k', key: strict }] },
        { id: 'open', credit_usd: '1', features: { byok: true }, keys: [{ name: 'k', key: open }] },
        { ...withConnection('connected', 'allowed'), features: { byok: true }, keys: [{ name: 'k', key: connected }] },
        { ...withConnection('bound', 'always'), features: { byok: true }, keys: [{ name: 'k', key: bound }] },
        { ...withConnection('off', 'allowed'), keys: [{ name: 'k', key: off }] },
      ],
    });
  });
  afterAll(async () => {
    delete process.env[byokVariable];
    await gateway.stop();
  });

  interface Listed {
    readonly id: string;
    readonly routable: boolean;
    readonly input_price_per_million: string;
    readonly providers: readonly { readonly provider: string; readonly routable: boolean }[];
  }

  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const listOf = async (key: string): Promise<readonly Listed[]> => {
    const { data } = (await (await gateway.get('/models', as(key))).json()) as { data: Listed[] };
    return data.slice(1);
  };

  describe('the model list of a workspace', () => {
    it('leaves out a model that its data policy excludes, and marks the entries that it excludes', async () => {
      const list = await listOf(strict);
      expect(list.map(({ id, routable }) => [id, routable])).toEqual([['acme/mixed', true]]);
      expect(list[0]?.providers.map(({ provider, routable }) => [provider, routable])).toEqual([
        ['careful', true],
        ['cheap', false],
      ]);
      // The price is that of the cheapest entry that the workspace can use.
      expect(list[0]?.input_price_per_million).toBe('1.00');
    });

    it.each<[string, () => string, unpriced: boolean, byHeader: boolean]>([
      ['BYOK is not enabled', () => gateway.key, false, false],
      ['BYOK is not enabled, though a connection is stored', () => off, false, false],
      ['only a header may bring a key', () => open, false, true],
      ['a stored connection serves one provider', () => connected, true, true],
      ['stored connections alone may be used', () => bound, true, false],
    ])('has a model without prices if a key can be brought, and no other: %s', async (_name, key, ...listingOf) => {
      const list = await listOf(key());
      const found = ['acme/unpriced', 'acme/by-header'].map((id) => list.find((model) => model.id === id));
      expect(found.map((model) => [model?.routable, model?.providers[0]?.routable])).toEqual(
        listingOf.map((isListed) => (isListed ? [true, true] : [undefined, undefined])),
      );
    });

    it('has the object of one model under its id, slashes included, and auto', async () => {
      const [firstModel] = await listOf(open);
      for (const path of ['/models/acme/mixed', '/models/acme%2Fmixed']) {
        expect(await (await gateway.get(path, as(open))).json()).toEqual(firstModel);
      }
      const auto = await (await gateway.get('/models/auto')).json();
      expect(auto).toEqual({ id: 'auto', object: 'model', created: 0, owned_by: 'gw' });
    });

    it('gives unknown_model for an id that the workspace does not have, with the nearest one', async () => {
      await expectError(await gateway.get('/models/acme/cheap-only', as(strict)), 400, 'unknown_model');
      const { message } = (await (await gateway.post(hello('acme/mixd'))).json()) as { message: string };
      expect(message).toContain('"acme/mixd"');
      expect(message).toContain('"acme/mixed"');
      expect(gateway.simulator.calls).toEqual([]);
    });
  });
});

// A key with a list of models: any other model is unknown to it.
describe('for a key', () => {
  const [narrow, wide, none, changing] = [newKey(), newKey(), newKey(), newKey()];
  const routes = (upstream: string, price: string) => [
    { provider: 'acme', upstream, more: { input_price_per_million: price } },
  ];

  let gateway: Harness;
  beforeAll(async () => {
    gateway = await startHarness({
      models: {
        'acme/cheap': routes('echo', '0.10'),
        'acme/dear': routes('echo', '5'),
        'acme/other': routes('echo', '1'),
      },
      moreWorkspaces: [
        {
          id: 'some',
          credit_usd: '10',
          models: ['acme/dear', 'acme/other'],
          keys: [
            { name: 'narrow', key: narrow, models: ['acme/dear', 'acme/cheap'] },
            { name: 'wide', key: wide },
            { name: 'none', key: none, models: ['acme/cheap'] },
            { name: 'changing', key: changing, rpm: 100, spend_limit_usd: '5' },
          ],
          features: { presets: true },
          presets: [
            { slug: 'other', versions: [{ version: '1', config: { models: ['acme/other'] } }], designated: '1' },
          ],
          functions: [promptFunction('label', 'acme/other', { input: { type: 'text' } })],
        },
      ],
    });
  });
  afterAll(() => gateway?.stop());

  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const listedModels = async (key: string) => {
    const { data } = (await (await gateway.get('/models', as(key))).json()) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };
  const modelOf = async (body: object, key: string) => {
    const { usage } = (await (await gateway.post(body, as(key))).json()) as { usage: { model: string } };
    return usage.model;
  };

  describe('a key with a list of models', () => {
    it('lists those that its workspace has too, and auto', async () => {
      expect(await listedModels(narrow)).toEqual(['auto', 'acme/dear']);
      expect(await listedModels(wide)).toEqual(['auto', 'acme/dear', 'acme/other']);
      expect(await listedModels(none)).toEqual(['auto']);
      expect(await listedModels(gateway.key)).toEqual(['auto', 'acme/cheap', 'acme/dear', 'acme/other']);
    });

    it('is served by a model of its list, and by auto from among them', async () => {
      expect(await modelOf(hello('acme/dear'), narrow)).toBe('acme/dear');
      expect(await modelOf(hello('auto'), narrow)).toBe('acme/dear');
      expect(await modelOf(hello('auto'), wide)).toBe('acme/other');
    });

    it.each([
      ['model', hello('acme/other')],
      ['models', hello('acme/dear', { models: ['acme/other'] })],
      ['a model that its workspace lacks', hello('acme/cheap')],
      ['a preset', hello('acme/dear', { preset: 'other' })],
    ])(
      'gets unknown_model for any other in %s, names no other model, and no provider is called',
      async (_place, body) => {
        await gateway.settled();
        const before = gateway.simulator.calls.length;
        const spent = (await gateway.credit('some')).spent;
        const response = await gateway.post(body, as(narrow));
        const { message } = (await response.clone().json()) as { message: string };
        await expectError(response, 400, 'unknown_model');
        expect(message).not.toMatch(/Did you mean "acme\/(other|cheap)"/);
        await expectError(await gateway.get('/models/acme/other', as(narrow)), 400, 'unknown_model');
        expect(gateway.simulator.calls).toHaveLength(before);
        expect((await gateway.credit('some')).spent).toBe(spent);
      },
    );

    it('cannot call a model any more from the moment it is taken from the list, and pays nothing', async () => {
      const keys = createKeyStore(gateway.testStore.store);
      const record = await keys.read(parseApiKey(changing)?.publicId ?? '');
      if (record === undefined) throw new Error('the key of the test must be stored');
      expect((await gateway.post(hello('acme/dear'), as(changing))).status).toBe(200);
      const dear = { max_tokens: 10_000_000 };
      await expectError(await gateway.post(hello('acme/dear', dear), as(changing)), 402, 'PAYMENT_REQUIRED');
      await gateway.settled();
      const [calls, { spent }] = [gateway.simulator.calls.length, await gateway.credit('some')];
      await keys.write({ ...record, models: ['acme/other'] });
      // This error has precedence over credit that does not cover the call.
      await expectError(await gateway.post(hello('acme/dear', dear), as(changing)), 400, 'unknown_model');
      await gateway.settled();
      expect(gateway.simulator.calls).toHaveLength(calls);
      expect(await gateway.credit('some')).toMatchObject({ spent, held: 0n });
      expect(readKeySpending(await gateway.keyItem(changing), Date.now())).toMatchObject({ held: 0n });
      await keys.write({ ...record, models: null });
      expect(await listedModels(changing)).toContain('acme/dear');
    });

    it.each([
      ['model', hello('acme/other')],
      ['models', hello('acme/dear', { models: ['acme/other'] })],
      ['auto', hello('auto')],
      ['a stream', hello('acme/other', { stream: true })],
    ])(
      'gets no stored answer of a call of another key to other models, by %s, and pays nothing',
      async (place, body) => {
        const key = { 'idempotency-key': `other models ${place}`.replaceAll(' ', '-') };
        const first = await gateway.post(body, { ...as(wide), ...key });
        const text = await first.text();
        expect(first.status).toBe(200);
        await gateway.settled();
        const [calls, { spent }] = [gateway.simulator.calls.length, await gateway.credit('some')];
        const refusal = await expectError(await gateway.post(body, { ...as(narrow), ...key }), 400, 'unknown_model');
        expect(refusal.message.includes('acme/other')).toBe(place !== 'auto');
        const again = await gateway.post(body, { ...as(wide), ...key });
        expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text]);
        await gateway.settled();
        expect(gateway.simulator.calls).toHaveLength(calls);
        expect(await gateway.credit('some')).toMatchObject({ spent, held: 0n });
      },
    );

    it('gets the stored answer of a call of another key to a model of its list', async () => {
      const key = { 'idempotency-key': 'a-model-of-both' };
      const text = await (await gateway.post(hello('acme/dear'), { ...as(wide), ...key })).text();
      const again = await gateway.post(hello('acme/dear'), { ...as(narrow), ...key });
      expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', text]);
    });

    it('gets no cached answer of a model from the moment it is taken from the list, and keeps its names', async () => {
      const keys = createKeyStore(gateway.testStore.store);
      const record = await keys.read(parseApiKey(changing)?.publicId ?? '');
      if (record === undefined) throw new Error('the key of the test must be stored');
      const cached = hello('acme/dear', { cache: {} });
      // Models added to the list are known from the second call on.
      await gateway.post(hello('acme/dear'), as(changing));
      expect((await gateway.post(cached, as(changing))).headers.get('x-gw-cache')).toBe('MISS');
      await gateway.settled();
      expect((await gateway.post(cached, as(changing))).headers.get('x-gw-cache')).toBe('HIT');
      const names = { 'idempotency-key': 'taken-from-the-list', 'x-gw-trace-id': 't', 'x-gw-span-id': 'taken' };
      await keys.write({ ...record, models: ['acme/other'] });
      await expectError(await gateway.post(cached, { ...as(changing), ...names }), 400, 'unknown_model');
      await gateway.settled();
      const other = await gateway.post(hello('acme/other'), { ...as(changing), ...names });
      expect([other.status, other.headers.get('idempotent-replayed')]).toEqual([200, null]);
      await keys.write({ ...record, models: null });
      expect(await listedModels(changing)).toContain('acme/dear');
    });

    it('gets model_not_routable for auto if its list leaves nothing', async () => {
      await expectError(await gateway.post(hello('auto'), as(none)), 400, 'model_not_routable');
    });

    it('calls a stored function whatever model that is written for: a client does not choose it', async () => {
      const response = await gateway.post(
        { model: 'gw/function/label', messages: [{ role: 'user', content: 'Hello' }] },
        as(narrow),
      );
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ usage: { model: 'acme/other' } });
    });
  });
});
