// Which providers are called, and in which order: every provider here rejects every request, so the arriving calls are
// the plan. The caller's own rejected requests cool no provider, so no test disturbs another.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectError } from '../support/expect-error.ts';
import { newKey, type Route } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';

const price = (input: string, output: string) => ({
  input_price_per_million: input,
  output_price_per_million: output,
});
const params = (...names: string[]) => ({
  supported_params: Object.fromEntries(names.map((name) => [name, true])),
});
const reject = (provider: string, more: Record<string, unknown>): Route => ({ provider, upstream: 'error-400', more });

/** The order of the catalogue is not that of prices, and the cheapest input is not the cheapest total. */
const routes = [
  reject('dear', { ...price('4', '8'), ...params('tools', 'vision', 'json_mode', 'json_schema') }),
  reject('middle', { ...price('1', '5'), ...params('tools', 'json_schema') }),
  reject('cheap', { ...price('2', '3'), ...params('tools'), streaming: false }),
  reject('twin', { ...price('2', '3'), ...params('json_mode') }),
  // No call may reach these: it would be served.
  { provider: 'unset', upstream: 'echo', more: price('0.1', '0.1') },
  {
    provider: 'unpriced',
    upstream: 'echo',
    more: { input_price_per_million: null, output_price_per_million: null },
  },
];
const all = ['cheap', 'twin', 'middle', 'dear'];

const providers = {
  dear: { data_policy: { zdr: true, data_collection: 'deny', data_residency: ['eu'] } },
  middle: { data_policy: { zdr: true, data_collection: 'deny', data_residency: ['eu', 'us'] } },
  cheap: { data_policy: { zdr: false, data_collection: 'allow', data_residency: ['us'] } },
  unset: { auth: { bearer: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } } },
};

const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const schema = { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' } } };
const image = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://images.example/a.png' } }] }];
const preferring = (provider: Record<string, unknown>) => ({ provider });

const plans: readonly [what: string, body: Record<string, unknown>, expected: readonly string[]][] = [
  ['nothing: the lowest total price first, catalogue order on ties', {}, all],
  ['sort price', preferring({ sort: 'price' }), all],
  ['an order, then the others by price', preferring({ order: ['dear', 'twin'] }), ['dear', 'twin', 'cheap', 'middle']],
  ['an order without fallbacks', preferring({ order: ['dear', 'cheap'], allow_fallbacks: false }), ['dear', 'cheap']],
  ['no fallbacks', preferring({ allow_fallbacks: false }), ['cheap']],
  [
    'an order with a name that no provider has',
    preferring({ order: ['nobody', 'middle'] }),
    ['middle', 'cheap', 'twin', 'dear'],
  ],
  ['an order of a name twice', preferring({ order: ['dear', 'cheap', 'dear'] }), ['dear', 'cheap', 'twin', 'middle']],
  [
    'an order of what is ignored',
    preferring({ order: ['cheap', 'dear'], ignore: ['cheap'] }),
    ['dear', 'twin', 'middle'],
  ],
  [
    'an order beside others alone',
    preferring({ order: ['middle', 'dear'], only: ['cheap', 'dear'] }),
    ['dear', 'cheap'],
  ],
  ['no fallbacks among some', preferring({ only: ['dear', 'middle'], allow_fallbacks: false }), ['middle']],
  ['one provider', preferring({ only: 'dear' }), ['dear']],
  ['some providers, one of them twice', preferring({ only: ['dear', 'twin', 'dear'] }), ['twin', 'dear']],
  ['all but some', preferring({ ignore: ['cheap', 'dear', 'nobody'] }), ['twin', 'middle']],
  ['only and ignore together', preferring({ only: ['dear', 'twin'], ignore: ['twin'] }), ['dear']],
  ['a cap on both prices', preferring({ max_price: 3 }), ['cheap', 'twin']],
  ['a cap exactly at a price, as text', preferring({ max_price: { prompt: '1.000' } }), ['middle']],
  ['a cap that is empty', preferring({ max_price: { prompt: null } }), all],
  ['a cap on completions', preferring({ max_price: { completion: 5 } }), ['cheap', 'twin', 'middle']],
  ['zero data retention', preferring({ zdr: true }), ['middle', 'dear']],
  ['no data collection', preferring({ data_collection: 'deny' }), ['middle', 'dear']],
  ['data in one region', preferring({ data_residency: 'eu' }), ['dear']],
  ['data in either of two regions', preferring({ data_residency: ['eu', 'us'] }), ['cheap', 'middle', 'dear']],
  ['preferences that loosen nothing', preferring({ zdr: false, data_collection: 'allow' }), all],
  ['tools', { tools: [tool] }, ['cheap', 'middle', 'dear']],
  ['images', { messages: image }, ['dear']],
  ['JSON output', { response_format: { type: 'json_object' } }, ['twin', 'dear']],
  ['a schema', { response_format: schema }, ['middle', 'dear']],
  [
    'a schema and tools and a cap',
    { response_format: schema, tools: [tool], ...preferring({ max_price: 5 }) },
    ['middle'],
  ],
  ['a stream', { stream: true }, ['twin', 'middle', 'dear']],
];

describe('a request', () => {
  let gateway: Harness;
  const strictKey = newKey();
  const canary = 'canary-9f31c0de';

  beforeAll(async () => {
    const one = (provider: string, total: string): Route[] => [
      reject(provider, { ...price(total, total), ...params() }),
    ];
    gateway = await startHarness({
      models: {
        'acme/model': routes,
        'acme/small': one('small', '1.5'),
        'acme/large': one('large', '0.5'),
        'acme/hidden': [{ provider: 'hidden', upstream: 'echo', more: { ...price('0.1', '0.1'), ...params() } }],
      },
      providers,
      moreWorkspaces: [
        {
          id: 'strict',
          credit_usd: '5',
          models: ['acme/model'],
          data_policy: { data_collection: 'deny' },
          keys: [{ name: 'strict', key: strictKey }],
        },
      ],
      modelMembers: { 'acme/model': { auto: true }, 'acme/small': { auto: true }, 'acme/large': { auto: true } },
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(() => gateway.simulator.clear());

  const calledProviders = () => gateway.simulator.calls.map(({ provider }) => provider);
  /** The request has its text in places in which any of its bytes would show. */
  const markedBody = (model: string, more: Record<string, unknown>) =>
    hello(model, { user: canary, messages: [{ role: 'user', content: canary }], ...more });

  const rejected = async (response: Response) =>
    expectError(response, 400, 'invalid_request', { reason: 'invalid_prompt' });

  it.each(plans)('that asks for %s reaches these providers in this order, and no others', async (_what, body, plan) => {
    await rejected(await gateway.post(markedBody('acme/model', body)));
    expect(calledProviders()).toEqual(plan);
    expect(gateway.simulator.calls.every(({ bodyText }) => bodyText.includes(canary))).toBe(true);
    expect(gateway.logLines.join('\n')).not.toContain(canary);
  });

  const refusals: readonly [body: Record<string, unknown>, status: number, code: string][] = [
    [preferring({ only: 'nobody' }), 400, 'invalid_request'],
    [preferring({ only: 'small' }), 400, 'model_not_routable'],
    [preferring({ ignore: [...all, 'unset'] }), 400, 'model_not_routable'],
    [preferring({ order: ['small'], allow_fallbacks: false }), 400, 'model_not_routable'],
    [preferring({ only: 'unpriced' }), 400, 'model_not_routable'],
    [preferring({ data_residency: ['is'] }), 422, 'no_policy_compliant_provider'],
    [preferring({ zdr: true, only: ['cheap', 'twin'] }), 422, 'no_policy_compliant_provider'],
    [{ tools: [tool], ...preferring({ only: 'twin' }) }, 400, 'feature_unsupported'],
    [{ stream: true, ...preferring({ only: 'cheap' }) }, 400, 'feature_unsupported'],
    [{ response_format: schema, ...preferring({ only: 'cheap' }) }, 422, 'structured_output_unsupported'],
    [preferring({ max_price: 0 }), 402, 'price_cap_exceeded'],
    [preferring({ max_price: { prompt: 0.999999 }, ignore: ['unset'] }), 402, 'price_cap_exceeded'],
    [preferring({ only: 'unset' }), 503, 'provider_not_configured'],
  ];

  it.each(refusals)('that no provider can serve reaches none: %j', async (body, status, code) => {
    await expectError(await gateway.post(markedBody('acme/model', body)), status, code);
    expect(calledProviders()).toEqual([]);
  });

  it('for auto reaches the marked models by price, and none that is not marked', async () => {
    await rejected(await gateway.post(markedBody('auto', {})));
    expect(calledProviders()).toEqual(['large', 'small', 'cheap', 'twin', 'middle', 'dear']);
  });

  it('for auto passes over models that cannot honour it', async () => {
    await rejected(await gateway.post(markedBody('auto', { response_format: schema, tools: [tool] })));
    expect(calledProviders()).toEqual(['middle', 'dear']);
    gateway.simulator.clear();
    const elsewhere = markedBody('auto', preferring({ data_residency: ['is'] }));
    await expectError(await gateway.post(elsewhere), 422, 'no_policy_compliant_provider');
    await expectError(
      await gateway.post(markedBody('auto', preferring({ only: 'hidden' }))),
      400,
      'model_not_routable',
    );
    expect(calledProviders()).toEqual([]);
  });

  it('under a policy of its workspace reaches only those that declare it, whatever it wishes', async () => {
    const headers = { authorization: `Bearer ${strictKey}` };
    const post = (wishes: Record<string, unknown>) =>
      gateway.post(markedBody('acme/model', preferring(wishes)), headers);
    await rejected(await post({ order: ['cheap', 'dear'] }));
    expect(calledProviders()).toEqual(['dear', 'middle']);
    gateway.simulator.clear();
    await expectError(await post({ data_collection: 'allow' }), 422, 'data_policy_loosening_forbidden');
    await expectError(await post({ only: 'cheap' }), 422, 'no_policy_compliant_provider');
    await expectError(await gateway.post(markedBody('acme/small', {}), headers), 400, 'unknown_model');
    await expectError(
      await gateway.post(markedBody('auto', { tools: [tool], stream: true, ...preferring({ only: 'twin' }) }), headers),
      422,
      'no_policy_compliant_provider',
    );
    expect(calledProviders()).toEqual([]);
  });
});
