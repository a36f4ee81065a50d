// Bring your own key: when the gateway uses a client's key, when it refuses it and with which code, and who pays.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { countOutcomes, outcomeOf } from '../support/outcomes.ts';
import { watchedClock } from '../support/watched-clock.ts';

const headerKey = 'sk-client-header-key-4711';
const storedKey = 'sk-client-stored-key-4712';
const ourKey = 'sk-our-key-4713';
process.env.GW_TEST_OUR_KEY = ourKey;
process.env.GW_TEST_STORED_KEY = storedKey;

const ours = { auth: { bearer: { env: 'GW_TEST_OUR_KEY' } } };
const unpriced = { input_price_per_million: null, output_price_per_million: null };
const noSchema = { supported_params: { tools: false, vision: false, json_mode: false, json_schema: false } };
const models = {
  'acme/paid': [
    { provider: 'acme', upstream: 'usage:1000:500' },
    { provider: 'other', upstream: 'usage:1000:500', more: { output_price_per_million: '9' } },
  ],
  'acme/unpriced': [{ provider: 'acme', upstream: 'usage:1000:500', more: unpriced }],
  'acme/bad': [
    { provider: 'acme', upstream: 'error-401' },
    { provider: 'other', upstream: 'echo', more: { output_price_per_million: '9' } },
  ],
  'acme/plain': [{ provider: 'acme', upstream: 'echo', more: noSchema }],
  'closed/only': [{ provider: 'closed', upstream: 'echo' }],
  'other/only': [{ provider: 'other', upstream: 'usage:1000:500' }],
};
const providers = {
  acme: { ...ours, accepts_byok_header: true },
  other: { ...ours, accepts_byok_header: true },
  closed: ours,
  idle: { ...ours, accepts_byok_header: true },
};
const connection = (more: object = {}) => ({
  provider: 'acme',
  key: { env: 'GW_TEST_STORED_KEY' },
  policy: 'always',
  ...more,
});
const withConnections = (...connections: object[]) => ({ features: { byok: true }, byok: { connections } });
const authorizations = (harness: Harness) =>
  harness.simulator.calls.map(({ provider, headers }) => [provider, headers.authorization]);

describe('an x-byok-key', () => {
  let harness: Harness;
  const keys = { off: newKey(), always: newKey(), poor: newKey(), owing: newKey() };

  beforeAll(async () => {
    harness = await startHarness({
      models,
      providers,
      workspace: { features: { byok: true } },
      moreWorkspaces: [
        { id: 'off', credit_usd: '1', keys: [{ name: 'k', key: keys.off }] },
        {
          id: 'owing',
          credit_usd: '1',
          features: { byok: true },
          keys: [{ name: 'k', key: keys.owing, spend_limit_usd: '1' }],
        },
        { id: 'always', credit_usd: '1', ...withConnections(connection()), keys: [{ name: 'k', key: keys.always }] },
        {
          id: 'poor',
          credit_usd: '0',
          features: { byok: true },
          keys: [{ name: 'k', key: keys.poor, spend_limit_usd: '0' }],
        },
      ],
    });
  });
  afterAll(() => harness.stop());
  beforeEach(() => harness.simulator.clear());

  const post = (model: string, only: unknown, headers: Record<string, string> = {}, more = {}) =>
    harness.post(hello(model, { ...(only === undefined ? {} : { provider: { only } }), ...more }), {
      'x-byok-key': headerKey,
      ...headers,
    });

  it.each([false, true])('goes to the one provider that is named, and costs no credit: stream %s', async (stream) => {
    const more = { stream, usage: { include: true } };
    const text = await (await post('acme/paid', 'acme', { authorization: `Bearer ${keys.poor}` }, more)).text();
    expect(authorizations(harness)).toEqual([['acme', `Bearer ${headerKey}`]]);
    expect(text).toContain('"is_byok":true');
    expect(text).toContain('"cost":0,"cost_usd":"0"');
    expect(text).toContain('"upstream_inference_completions_cost":0.001');
    await harness.settled();
    expect(await expectBalancedBooks(harness, 'poor')).toBe(0n);
    const records = await harness.records('poor');
    expect(records.at(-1)).toMatchObject({
      isByok: true,
      costPicoUsd: 2_000_000_000n,
      outcome: 'ok',
      provider: 'acme',
    });
  });

  it('serves if the key has spent more than its limit now is, with an Idempotency-Key too', async () => {
    const owing = { authorization: `Bearer ${keys.owing}` };
    expect(await outcomeOf(await harness.post(hello('other/only'), owing))).toBe('ok');
    await harness.settled();
    const { keys: store } = harness.composition;
    for await (const key of store.list()) {
      if (key.workspace === 'owing') await store.write({ ...key, spendLimitUsd: '0.0000001' });
    }
    for (const more of [{}, { 'idempotency-key': 'again' }]) {
      expect(await outcomeOf(await post('acme/paid', 'acme', { ...owing, ...more }))).toBe('ok');
    }
    expect(await outcomeOf(await harness.post(hello('other/only'), owing))).toBe('PAYMENT_REQUIRED');
  });

  it('may be used if nothing is priced, and only then may that entry serve', async () => {
    const answer = await post('acme/unpriced', ['acme', 'acme']);
    expect(await answer.text()).toContain('"cost":0,"cost_usd":"0"');
    expect(authorizations(harness)).toEqual([['acme', `Bearer ${headerKey}`]]);
    await expectError(await harness.post(hello('acme/unpriced')), 400, 'model_not_routable');
    expect(harness.simulator.calls).toHaveLength(1);
  });

  it('that the provider refuses is no reason to use ours, or another provider', async () => {
    await expectError(await post('acme/bad', 'acme'), 502, 'no_available_provider');
    expect(authorizations(harness)).toEqual([['acme', `Bearer ${headerKey}`]]);
    // A client's wrong key does not cool a provider.
    expect(await outcomeOf(await harness.post(hello('acme/paid', { provider: { only: 'acme' } })))).toBe('ok');
  });

  const refusals: [string, number, string, () => Promise<Response>][] = [
    ['not enabled', 403, 'byok_not_enabled', () => post('acme/paid', 'acme', { authorization: `Bearer ${keys.off}` })],
    ['no only', 400, 'byok_provider_required', () => post('acme/paid', undefined)],
    ['two providers', 400, 'byok_provider_required', () => post('acme/paid', ['acme', 'other'])],
    ['unknown provider', 400, 'byok_provider_required', () => post('acme/paid', 'nobody')],
    ['one unknown of two', 400, 'byok_provider_required', () => post('acme/paid', ['acme', 'nobody'])],
    ['no only, unknown model', 400, 'byok_provider_required', () => post('nobody/nothing', undefined)],
    [
      'an order alone',
      400,
      'byok_provider_required',
      () => post('acme/paid', undefined, {}, { provider: { order: ['acme'], allow_fallbacks: false } }),
    ],
    ['a provider without the model', 400, 'byok_provider_required', () => post('acme/paid', 'idle')],
    ['no such header', 400, 'byok_credential_unsupported', () => post('closed/only', 'closed')],
    [
      'stored policy',
      400,
      'byok_credential_conflict',
      () => post('acme/paid', 'acme', { authorization: `Bearer ${keys.always}` }),
    ],
    ['empty', 400, 'invalid_request', () => post('acme/paid', 'acme', { 'x-byok-key': '' })],
    ['unknown model', 400, 'unknown_model', () => post('nobody/nothing', 'acme')],
    [
      'a function',
      400,
      'function_requires_managed_funding',
      () => post('gw/function/f', undefined, { authorization: `Bearer ${keys.off}` }),
    ],
  ];

  it.each(refusals)('is refused without a provider call: %s', async (_name, status, code, send) => {
    await expectError(await send(), status, code);
    expect(harness.simulator.calls).toHaveLength(0);
  });
});

describe('a stored connection', () => {
  let harness: Harness;
  afterEach(() => harness.stop());
  const start = (...connections: object[]) =>
    startHarness({ models, providers, workspace: withConnections(...connections) });

  it('with policy always is the only one that may serve, costs no credit, and no other provider is called', async () => {
    harness = await start(connection());
    for (const stream of [false, true]) {
      const text = await (await harness.post(hello('acme/paid', { stream, usage: { include: true } }))).text();
      expect(text).toContain('"is_byok":true');
    }
    const refusal = await harness.post(hello('acme/bad'));
    expect(refusal.headers.get('x-should-retry')).toBe('false');
    const { message } = await expectError(refusal, 502, 'no_available_provider');
    expect(message).toMatch(/^A BYOK key that the workspace has stored was refused by its provider/);
    expect(message).not.toContain("the gateway's own");
    expect(new Set(authorizations(harness).map(String))).toEqual(new Set([`acme,Bearer ${storedKey}`]));
    await expectError(await harness.post(hello('other/only')), 422, 'byok_no_eligible_connection');
    const other = await harness.post(hello('acme/paid', { provider: { only: 'other' } }));
    await expectError(other, 422, 'byok_no_eligible_connection');
    const schema = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } };
    await expectError(
      await harness.post(hello('acme/plain', { response_format: schema })),
      422,
      'structured_output_unsupported',
    );
    await expectError(await harness.post(hello('gw/function/f')), 400, 'function_requires_managed_funding');
    expect(harness.simulator.calls).toHaveLength(3);
    await harness.settled();
    expect(await expectBalancedBooks(harness)).toBe(0n);
  });

  it('with policy allowed serves when its provider is chosen, and ours pays for the others', async () => {
    harness = await start(connection({ policy: 'allowed' }));
    const first = (await (await harness.post(hello('acme/paid'))).json()) as { usage: object };
    expect(first.usage).toMatchObject({ provider: 'acme', is_byok: true, cost: 0 });
    const second = (await (
      await harness.post(hello('acme/paid', { provider: { only: 'other' } }))
    ).json()) as typeof first;
    expect(second.usage).toMatchObject({ provider: 'other', is_byok: false, cost: 0.0055 });
    const fallback = await harness.post(hello('acme/bad'));
    expect((await fallback.json()) as object).toMatchObject({
      usage: { provider: 'other', is_byok: false, attempts: 2 },
    });
    expect(authorizations(harness)).toEqual([
      ['acme', `Bearer ${storedKey}`],
      ['other', `Bearer ${ourKey}`],
      ['acme', `Bearer ${storedKey}`],
      ['other', `Bearer ${ourKey}`],
    ]);
    const header = await harness.post(hello('acme/paid', { provider: { only: 'acme' } }), { 'x-byok-key': headerKey });
    expect(await outcomeOf(header)).toBe('ok');
    expect(authorizations(harness).at(-1)).toEqual(['acme', `Bearer ${headerKey}`]);
    await harness.settled();
    await expectBalancedBooks(harness);
  });

  it('means nothing if the workspace does not have the feature', async () => {
    harness = await startHarness({ models, providers, workspace: { byok: { connections: [connection()] } } });
    expect(await outcomeOf(await harness.post(hello('acme/paid')))).toBe('ok');
    expect(authorizations(harness)).toEqual([['acme', `Bearer ${ourKey}`]]);
  });

  it('without a key binds all the same: no provider serves', async () => {
    harness = await start(connection({ key: { env: 'GW_TEST_VARIABLE_NOBODY_SETS' } }));
    await expectError(await harness.post(hello('acme/paid')), 422, 'byok_no_eligible_connection');
    expect(harness.simulator.calls).toHaveLength(0);
  });

  it('that KMS does not open is the gateway’s own failure, in no provider’s name, and the log says why', async () => {
    const refusal = Object.assign(new Error('not authorized to perform kms:Decrypt'), {
      name: 'AccessDeniedException',
    });
    harness = await startHarness({
      models,
      providers,
      workspace: withConnections(connection()),
      replace: ({ connections }) => ({
        connections: { ...connections, openKey: () => Promise.reject(new StoreUnavailable(refusal)) },
      }),
    });
    const refusedAnswer = await harness.post(hello('acme/paid'));
    await expectError(refusedAnswer, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(refusedAnswer.headers.get('retry-after')).toBe('1');
    expect(harness.simulator.calls).toHaveLength(0);
    await harness.settled();
    expect((await harness.credit()).held).toBe(0n);
    const [line, ...others] = harness.logLines.filter((text) => text.includes('connection_key_unavailable'));
    expect(others).toEqual([]);
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      workspace_id: 'team',
      provider: 'acme',
      error: { name: 'AccessDeniedException', message: 'not authorized to perform kms:Decrypt' },
    });
  });

  it.each(['stored', 'signed'] as const)(
    'whose key is not there within two seconds, with all that came before, calls no provider: %s',
    async (kind) => {
      const clock = watchedClock();
      const asking = Promise.withResolvers<void>();
      const silence = () => {
        asking.resolve();
        return new Promise<never>(() => {});
      };
      harness = await startHarness({
        clock,
        models,
        providers,
        workspace: kind === 'stored' ? withConnections(connection()) : {},
        replace: ({ connections, credentials }) => ({
          connections: { ...connections, openKey: silence },
          credentials: {
            ...credentials,
            find: (provider) => (kind === 'signed' ? { headers: {}, sign: silence } : credentials.find(provider)),
          },
        }),
      });
      const answer = harness.post(hello('closed/only', kind === 'stored' ? { model: 'acme/paid' } : {}));
      await asking.promise;
      clock.advance(1_999);
      await expectError(await answer, 503, 'RATE_LIMITER_UNAVAILABLE');
      expect(harness.simulator.calls).toHaveLength(0);
    },
  );

  it('has a budget that holds for any number of calls at once, and is settled to what was used', async () => {
    // The budget covers ten times 50 tokens of output at 2 USD a million, and the bytes of the body at 1 USD.
    const free = { input_price_per_million: '0' };
    const budgeted = { 'acme/full': [{ provider: 'acme', upstream: 'usage:0:50', more: free }] };
    harness = await startHarness({
      models: { ...models, ...budgeted },
      providers,
      workspace: withConnections(connection({ budget_usd: '0.001' })),
    });
    const second = await harness.open();
    const call = hello('acme/full', { max_tokens: 50 });
    const answers = Array.from({ length: 40 }, (_none, at) => (at % 2 ? second : harness).post(call));
    expect(await countOutcomes(answers)).toEqual({ ok: 10, byok_budget_exceeded: 30 });
    expect(harness.simulator.calls).toHaveLength(10);
    await Promise.all([harness.settled(), second.settled()]);
    expect(await expectBalancedBooks(harness)).toBe(0n);
    const { message } = await expectError(await harness.post(call), 402, 'byok_budget_exceeded');
    expect(message).toContain('0.0001 USD');
    expect(message).toContain(' 0 USD of the BYOK budget');
    const records = await harness.records();
    expect(records.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n)).toBe(1_000_000_000n);
    // A raised budget counts at once; earlier spending stays.
    await harness.apply({
      models: { ...models, ...budgeted },
      providers,
      workspace: withConnections(connection({ budget_usd: '0.0011' })),
    });
    const third = await harness.open();
    expect(await countOutcomes([third.post(call), third.post(call)])).toEqual({ ok: 1, byok_budget_exceeded: 1 });
    await third.settled();
  });

  it('that is used up is left out if another may serve, and ours never steps in for it alone', async () => {
    harness = await start(connection({ policy: 'allowed', budget_usd: '0.000001' }));
    const answer = await harness.post(hello('acme/paid'));
    expect((await answer.json()) as object).toMatchObject({
      usage: { provider: 'other', is_byok: false, attempts: 1 },
    });
    const alone = await harness.post(hello('acme/paid', { provider: { only: 'acme' } }));
    await expectError(alone, 402, 'byok_budget_exceeded');
    expect(authorizations(harness)).toEqual([['other', `Bearer ${ourKey}`]]);
    await harness.settled();
    await expectBalancedBooks(harness);
  });

  it('with a budget cannot serve what has no price; without one it can', async () => {
    harness = await start(connection({ budget_usd: '5' }));
    await expectError(await harness.post(hello('acme/unpriced')), 422, 'byok_budget_unquotable');
    expect(harness.simulator.calls).toHaveLength(0);
    await harness.apply({ models, providers, workspace: withConnections(connection({ budget_usd: null })) });
    const later = await harness.open();
    const answer = await later.post(hello('acme/unpriced'));
    expect((await answer.json()) as object).toMatchObject({ usage: { is_byok: true, cost: 0 } });
    await later.settled();
  });
});
