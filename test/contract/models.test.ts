import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
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
    const limited = {
      rate_limit_rpm: 600,
      rate_limit_tpm: 90_000,
      rate_limit_tpd: null,
      input_price_per_million: '0.15',
    };
    gateway = await startHarness({
      models: {
        'acme/large': [
          { provider: 'acme', upstream: 'echo', more: { supported_params: { tools: true, extras: ['plugins'] } } },
          { provider: 'bolt', upstream: 'echo', more: limited },
        ],
        'acme/unpriced': [{ provider: 'acme', upstream: 'echo', more: unpriced }],
        'acme/nobody': [],
        'many/apis': [
          { provider: 'claude', upstream: 'echo' },
          { provider: 'vectors', upstream: 'echo' },
        ],
        'many/vectors': [{ provider: 'vectors', upstream: 'echo' }],
        'many/translated': [{ provider: 'nova', upstream: 'echo' }],
      },
      providers: {
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

  it('begins with auto and nothing but its four members', async () => {
    const [first] = await list();
    expect(first).toEqual({ id: 'auto', object: 'model', created: 0, owned_by: 'gw' });
  });

  it('has exactly the members of the specification in every other element', async () => {
    const [, ...models] = await list();
    expect(models.map(({ id }) => id)).toEqual([
      'acme/large',
      'acme/unpriced',
      'many/apis',
      'many/vectors',
      'many/translated',
    ]);
    for (const { apis: _apis, translated_apis: _translated, ...model } of models) {
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

  it('gives every member the type of the specification', async () => {
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

  it('names the interfaces of a model only where one is not chat completions, which providers of other formats serve too', async () => {
    const models = await list();
    expect(models.map((model) => [model.id, model.apis])).toEqual([
      ['auto', undefined],
      ['acme/large', ['chat-completions', 'messages', 'responses']],
      ['acme/unpriced', ['chat-completions', 'messages', 'responses']],
      ['many/apis', ['chat-completions', 'messages', 'responses', 'embeddings']],
      ['many/vectors', ['embeddings']],
      ['many/translated', ['chat-completions', 'messages', 'responses']],
    ]);
    expect(models.filter((model) => 'apis' in model)).toHaveLength(5);
    expect(
      models.filter((model) => 'translated_apis' in model).map(({ id, translated_apis: apis }) => [id, apis]),
    ).toEqual([
      ['acme/large', ['messages', 'responses']],
      ['acme/unpriced', ['messages', 'responses']],
      ['many/apis', ['chat-completions', 'responses']],
      ['many/translated', ['chat-completions', 'messages', 'responses']],
    ]);
  });

  it('keeps prices strings where none is set, and says that the model cannot be routed to', async () => {
    const models = await list();
    const unpriced = models.find(({ id }) => id === 'acme/unpriced');
    expect(unpriced).toMatchObject({ input_price_per_million: '0', output_price_per_million: '0', routable: false });
    expect(unpriced?.providers).toEqual([
      expect.objectContaining({ input_price_per_million: '0', output_price_per_million: '0', routable: false }),
    ]);
    // Without an entry there is nothing that the workspace could ever use.
    expect(models.find(({ id }) => id === 'acme/nobody')).toBeUndefined();
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
