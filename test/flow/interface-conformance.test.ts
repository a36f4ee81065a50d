// Reservation, cost and settlement follow rules that depend on no interface and no format; the suites of those rules
// run on chat completions. This suite shows that each interface, and providers of each format, follow all of them:
// names, limits of providers, reservations and settlement. One gateway serves all pairs.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { expectBalancedAccount, expectBalancedTables } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, type ServedGateway, startHarness } from '../support/harness.ts';
import { sendRequest } from '../support/http-client.ts';
import { countOutcomes, outcomeOf } from '../support/outcomes.ts';
import { spokenInterfaces, translatedInterfaces } from '../support/spoken-interfaces.ts';

/** 50 tokens of output at 2 USD a million cost at most 0.0001 USD. */
const behaviours: Readonly<Record<string, Record<string, unknown>>> = {
  'usage:0:50': {},
  'usage:0:25': {},
  'usage:1000:500': {},
  'usage:10:20': { rate_limit_tpm: 1_000 },
  echo: {},
  'error-400': {},
  'error-500': {},
  'error-after-chunks:3': {},
};
/**
 * The pairs are chat completions at every format, and each other interface at its own format and at one translated
 * format, because a format does not depend on an interface. Each pair has a model for each behaviour, because limits of
 * providers count by model, and a workspace for each limit.
 */
const everyApi = ['chat-completions', ...translatedInterfaces.map(({ api }) => api)];
const someApis: Readonly<Record<string, readonly string[]>> = {
  messages: ['messages', 'converse'],
  responses: ['responses', 'generate-content'],
};
const pairs = spokenInterfaces.flatMap((clientInterface) =>
  (someApis[clientInterface.id] ?? everyApi).map((api) => ({
    ...clientInterface,
    api,
    name: `${clientInterface.id}-at-${api}`,
  })),
);
const keys: Record<string, string> = {};
const limitedWorkspace = (id: string, workspace: object, key: object = {}) => {
  keys[id] = newKey();
  return { id, credit_usd: '100', ...workspace, keys: [{ name: 'k', key: keys[id], ...key }] };
};

let harness: Harness;
let second: ServedGateway;
beforeAll(async () => {
  harness = await startHarness({
    models: Object.fromEntries(
      pairs.flatMap(({ name, api }) =>
        Object.entries(behaviours).map(([behaviour, limits]) => {
          const more = { input_price_per_million: '0', output_price_per_million: '2.00', ...limits };
          return [`${name}/${behaviour}`, [{ provider: api, upstream: behaviour, more }]];
        }),
      ),
    ),
    providers: Object.fromEntries(pairs.map(({ api }) => [api, { apis: [api] }])),
    moreWorkspaces: pairs.flatMap(({ name }) => [
      limitedWorkspace(name, {}),
      limitedWorkspace(`${name}-key`, {}, { spend_limit_usd: '0.0003' }),
      limitedWorkspace(`${name}-credit`, { credit_usd: '0.0003' }),
      limitedWorkspace(`${name}-in-turn`, { credit_usd: '0.00015' }),
    ]),
  });
  second = await harness.open();
});
afterAll(async () => {
  await bothSettled();
  await expectBalancedTables(harness);
  await harness.stop();
});
beforeEach(async () => {
  await bothSettled();
  harness.simulator.clear();
});

const bothSettled = () => Promise.all([harness.settled(), second.settled()]);
const calls = () => harness.simulator.calls.length;
let names = 0;
const fresh = () => ({ 'idempotency-key': `key-${++names}` });

describe.each(pairs)('in $name', ({ name: pair, path, api, hello }) => {
  /** Sends a request with the key of the workspace `PAIR` or `PAIR-OF`. */
  const post = (
    body: object,
    headers: Record<string, string> = {},
    { of = '', door = harness as ServedGateway } = {},
  ) =>
    sendRequest(`${door.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${keys[of === '' ? pair : `${pair}-${of}`]}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const ask = (behaviour: string, more: Record<string, unknown> = {}) => hello(`${pair}/${behaviour}`, more);
  const doorOf = (at: number) => (at % 2 === 0 ? harness : second);

  describe.each([false, true])('a call, stream %s', (stream) => {
    const body = (behaviour: string, more: Record<string, unknown> = {}) => ask(behaviour, { stream, ...more });

    it('runs once for an Idempotency-Key: retries meanwhile get a retry time, later ones get its bytes and pay nothing', async () => {
      const name = fresh();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_none, at) => post(body('usage:1000:500'), name, { door: doorOf(at) })),
      );
      const texts = new Set<string>();
      for (const answer of answers) {
        if (answer.status === 200) {
          texts.add(await answer.text());
          continue;
        }
        expect(answer.headers.get('x-should-retry')).toBe('true');
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
        await expectError(answer, 409, 'execution_in_progress');
      }
      expect(texts.size).toBe(1);
      await bothSettled();
      const spent = await expectBalancedAccount(harness, pair);
      const replay = await post(body('usage:1000:500'), name, { door: second });
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      expect(texts).toContain(await replay.text());
      expect(replay.headers.get('x-gw-cost')).toBe(
        answers.find(({ status }) => status === 200)?.headers.get('x-gw-cost'),
      );
      await expectError(await post(body('usage:1000:500', { user: 'another' }), name), 409, 'idempotency_conflict');
      await expectError(await post(ask('usage:1000:500', { stream: !stream }), name), 409, 'idempotency_conflict');
      await bothSettled();
      expect([calls(), await expectBalancedAccount(harness, pair)]).toEqual([1, spent]);
    });

    it.each(['error-400', 'error-500', 'error-after-chunks:3'])(
      'that fails leaves its Idempotency-Key free as soon as the client knows: %s',
      async (behaviour) => {
        const name = fresh();
        expect(await (await post(body(behaviour), name)).text()).toContain('"error"');
        const again = await post(body('echo'), name);
        expect(again.headers.get('idempotent-replayed')).toBeNull();
        expect([await outcomeOf(again), calls()]).toEqual(['ok', 2]);
      },
    );

    it('takes an estimate of its tokens from the limit of its provider, corrected to what the provider counted', async () => {
      const countTokens = async () =>
        (await harness.testStore.store.get('limits', `provider#${api}#${pair}/usage:10:20#0`))?.minute_tokens_total;
      const before = Number((await countTokens()) ?? 0);
      expect(await outcomeOf(await post(body('usage:10:20', { max_tokens: 900 })))).toBe('ok');
      await bothSettled();
      expect(Number(await countTokens()) - before).toBe(30);
      await expectError(await post(body('usage:10:20', { max_tokens: 980 })), 429, 'rate_limited');
      expect(calls()).toBe(1);
    });
  });

  it.each(['key', 'credit'])(
    'of eight calls at once those run that a limit of the %s covers, to the pico-USD',
    async (of) => {
      const call = ask('usage:0:50', { max_tokens: 50 });
      const answers = Array.from({ length: 8 }, (_none, at) => post(call, {}, { of, door: doorOf(at) }));
      expect(await countOutcomes(answers)).toEqual({ ok: 3, PAYMENT_REQUIRED: 5 });
      await bothSettled();
      expect([calls(), await expectBalancedAccount(harness, `${pair}-${of}`)]).toEqual([3, 300_000_000n]);
    },
  );

  it('what a call did not use is there for the next one', async () => {
    const call = ask('usage:0:25', { max_tokens: 50 });
    for (const _call of [1, 2]) {
      expect(await countOutcomes([post(call, {}, { of: 'in-turn' })])).toEqual({ ok: 1 });
      await bothSettled();
    }
    await expectError(await post(call, {}, { of: 'in-turn' }), 402, 'PAYMENT_REQUIRED');
    await bothSettled();
    expect([calls(), await expectBalancedAccount(harness, `${pair}-in-turn`)]).toEqual([2, 100_000_000n]);
  });
});
