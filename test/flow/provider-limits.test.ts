// Limits of providers through the front door: which calls pass, which wait, and which get a retry time.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { createIdempotencyStore } from '../../shared/accounting/idempotency/index.ts';
import { createProviderLimiter } from '../../shared/accounting/limits/index.ts';
import { createCooldowns } from '../../shared/accounting/provider-health/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { eventually, type WatchedClock, watchedClock } from '../support/watched-clock.ts';

describe('which calls pass', () => {
  const dayMs = 86_400_000;

  /** Each test has a model of its own, because usage of a provider's limits is counted by model. */
  const entry = (more: Record<string, unknown>, upstream = 'usage:10:20') => [{ provider: 'acme', upstream, more }];
  const models = {
    'acme/three': entry({ rate_limit_rpm: 3 }),
    'acme/held': entry({ rate_limit_rpm: 60 }),
    'acme/waited': entry({ rate_limit_rpm: 60 }),
    'acme/several': [
      ...entry({ rate_limit_rpm: 1 }, 'echo'),
      { provider: 'bolt', upstream: 'echo', more: { output_price_per_million: '9', rate_limit_rpm: 1 } },
      { provider: 'core', upstream: 'echo', more: { output_price_per_million: '99' } },
    ],
    'acme/one': entry({ rate_limit_rpm: 1 }),
    'acme/streamed': entry({ rate_limit_tpm: 1_000 }),
    'acme/failing': entry({ rate_limit_tpm: 1_000 }, 'error-500'),
    'acme/choices': entry({ rate_limit_tpm: 1_000 }),
    'acme/silent': entry({ rate_limit_tpd: 10_000, rate_limit_tpm: 10_000, max_output_tokens: 100 }, 'silent'),
    'acme/daily': entry({ rate_limit_tpd: 40 }),
    'acme/unlimited': entry({}),
  };
  type Model = keyof typeof models;

  let gateway: Harness;
  const clock = watchedClock(20_832 * dayMs);
  const poor = newKey();

  beforeAll(async () => {
    gateway = await startHarness({
      clock,
      models,
      service: { queue_ms: 1_500 },
      moreWorkspaces: [{ id: 'poor', credit_usd: '0', keys: [{ name: 'k', key: poor }] }],
    });
  });
  afterAll(() => gateway.stop());
  beforeEach(async () => {
    await gateway.settled();
    // This is the first millisecond of a minute, and of a day.
    clock.advance(dayMs - (clock.nowMs() % dayMs));
    gateway.simulator.clear();
  });

  const post = (model: Model, more: Record<string, unknown> = {}) => gateway.post(hello(model, more));
  const ask = async (model: Model, more: Record<string, unknown> = {}): Promise<number> => {
    const response = await post(model, more);
    await response.text();
    return response.status;
  };
  /** Takes slots of a limit of 60, as other gateways would. */
  async function take(model: Model, slots: number): Promise<void> {
    for (let slot = 1; slot <= slots; slot += 1)
      await gateway.composition.limiter.admit(
        { provider: 'acme', model },
        { rpm: 60, tpm: null, tpd: null },
        { tokens: 1, requests: 1 },
      );
  }
  const counters = (model: Model) => gateway.testStore.store.get('limits', `provider#acme#${model}#0`);
  const settledAs = (model: Model, tokens: number) =>
    eventually(async () => (await counters(model))?.minute_tokens_total === tokens);

  /** Returns the two headers that say when clients may retry. */
  const retryOf = ({ headers }: Response) => [headers.get('retry-after'), headers.get('x-should-retry')];

  describe('a limit of requests per minute', () => {
    it('lets in as many as it says, and tells the next one the true time', async () => {
      clock.advance(15_000);
      for (let call = 1; call <= 3; call += 1) expect(await ask('acme/three')).toBe(200);
      const refusal = await post('acme/three');
      await expectError(refusal, 429, 'rate_limited');
      expect(retryOf(refusal)).toEqual(['60', null]);
      clock.advance(45_000);
      const early = await post('acme/three');
      await expectError(early, 429, 'rate_limited');
      expect(retryOf(early)).toEqual(['15', null]);
      expect(gateway.simulator.calls).toHaveLength(3);
      clock.advance(15_000);
      expect(await ask('acme/three')).toBe(200);
      expect(gateway.simulator.calls).toHaveLength(4);
    });

    it('holds a call back until its slot is free, and not a millisecond less', async () => {
      await take('acme/held', 60);
      clock.advance(58_500);
      clock.forget();
      const answer = post('acme/held');
      await clock.waitsFor((delayMs) => delayMs === 1_500);
      clock.advance(1_499);
      expect(gateway.simulator.calls).toHaveLength(0);
      clock.advance(1);
      const response = await answer;
      expect(response.status).toBe(200);
      await response.text();
      expect(gateway.simulator.calls).toHaveLength(1);
    });

    it('lets one of many who wait have the one slot; the others hear of the next one', async () => {
      await take('acme/waited', 1);
      clock.advance(5_000);
      await take('acme/waited', 59);
      clock.advance(53_500);
      clock.forget();
      const answers = [1, 2, 3].map(() => post('acme/waited'));
      await clock.waitsFor((delayMs) => delayMs === 1_500, 3);
      clock.advance(1_500);
      const responses = await Promise.all(answers);
      expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 429, 429]);
      for (const response of responses) {
        if (response.status === 429) expect(retryOf(response)).toEqual(['5', null]);
        await response.text();
      }
      expect(gateway.simulator.calls).toHaveLength(1);
    });

    it('turns to a provider that is free before it makes a call wait', async () => {
      for (const provider of ['acme', 'bolt', 'core', 'core']) {
        const response = await post('acme/several');
        expect(response.headers.get('x-gw-provider')).toBe(provider);
        await response.text();
      }
      expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['acme', 'bolt', 'core', 'core']);
    });
  });

  describe('a limit of tokens', () => {
    it('is corrected after a provider that failed', async () => {
      await expectError(await post('acme/failing'), 502, 'no_available_provider');
      await eventually(async () => (await counters('acme/failing'))?.minute_tokens_total === 0);
    });

    it('counts every choice that is asked for', async () => {
      expect(await ask('acme/choices', { max_tokens: 20 })).toBe(200);
      await settledAs('acme/choices', 30);
      await expectError(await post('acme/choices', { n: 5, max_tokens: 200 }), 429, 'rate_limited');
      expect(gateway.simulator.calls).toHaveLength(1);
    });

    it('is not taken whole by a call that asks for more than the provider ever writes', async () => {
      const greedy = post('acme/silent', { max_tokens: 1_000_000 });
      await gateway.simulator.until((calls) => calls.length === 1);
      const modest = post('acme/silent', { max_tokens: 10 });
      await gateway.simulator.until((calls) => calls.length === 2);
      clock.advance(55_000);
      for (const answer of [greedy, modest]) await (await answer).text();
    });

    it('that is used up for the day tells clients not to come back by themselves', async () => {
      expect(await ask('acme/daily', { max_tokens: 20 })).toBe(200);
      await eventually(async () => (await counters('acme/daily'))?.day_tokens_total === 30);
      clock.advance(120_000);
      const refusal = await post('acme/daily', { max_tokens: 20 });
      await expectError(refusal, 429, 'rate_limited');
      expect(retryOf(refusal)).toEqual(['60', 'false']);
      expect(gateway.simulator.calls).toHaveLength(1);
    });
  });
});

// The store of limits fails or does not answer: no provider with unknown limits is called, and no call waits long.
describe('a table of limits that is out of order', () => {
  let clock: WatchedClock;
  let gateway: Harness;
  let asking: PromiseWithResolvers<void>;
  let silence: PromiseWithResolvers<void>;
  /** The table's error; undefined if the table does not answer at all. */
  let fault: Error | undefined;

  beforeEach(async () => {
    clock = watchedClock();
    asking = Promise.withResolvers();
    silence = Promise.withResolvers();
    fault = new Error('the table is gone');
    const answer = async (): Promise<never> => {
      asking.resolve();
      if (fault === undefined) await silence.promise;
      throw new StoreUnavailable(fault);
    };
    const limiterStore = { get: answer, put: answer, update: answer } as unknown as Store;
    const fail = async () => Promise.reject(new StoreUnavailable(fault));
    const cooldownStore = { get: fail, update: fail } as unknown as Store;
    gateway = await startHarness({
      clock,
      models: {
        'acme/limited': [{ provider: 'acme', upstream: 'echo', more: { rate_limit_tpm: 100_000 } }],
        'acme/free': [{ provider: 'acme', upstream: 'echo' }],
        'acme/failing': [
          { provider: 'acme', upstream: 'error-500' },
          { provider: 'bolt', upstream: 'echo', more: { output_price_per_million: '9' } },
        ],
      },
      replace: () => ({
        limiter: createProviderLimiter({
          writer: createCounters({ store: limiterStore, clock, randomness: systemRandomness }).writer,
          clock,
          randomness: systemRandomness,
        }),
        cooldowns: createCooldowns({ store: cooldownStore, clock }),
      }),
    });
  });
  afterEach(async () => {
    // The table's silence ends, because the clean-up of refused calls waits for its answer.
    silence.resolve();
    await gateway.stop();
  });

  it('and does not answer is waited for less than two seconds, and no longer than one once the client has its answer', async () => {
    fault = undefined;
    const answer = gateway.post(hello('acme/limited'));
    await asking.promise;
    clock.advance(1_999);
    await expectError(await answer, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(gateway.simulator.calls).toHaveLength(0);
    let isOver = false;
    const settlement = gateway.settled().then(() => {
      isOver = true;
    });
    await clock.waitsFor((delayMs) => delayMs === 1_000);
    clock.advance(999);
    await nextTurn();
    expect(isOver).toBe(false);
    clock.advance(1);
    await settlement;
    expect(gateway.logLines.filter((line) => line.includes('deferred_tasks_over_time'))).toHaveLength(1);
  });

  it('concerns no provider without limits, not even one that fails and cools', async () => {
    for (const model of ['acme/free', 'acme/failing', 'acme/failing', 'acme/failing']) {
      const response = await gateway.post(hello(model));
      expect(response.status).toBe(200);
      await response.text();
    }
    expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual([
      ...['acme', 'acme', 'bolt', 'acme', 'bolt'],
      // acme has failed two calls.
      'bolt',
    ]);
  });
});

describe('what has to answer before a provider is called', () => {
  let clock: WatchedClock;
  let gateway: Harness;
  let asking: PromiseWithResolvers<void>;
  let isSilent: boolean;
  let silence: PromiseWithResolvers<never>;
  const blobs = memoryBlobs();
  /** Answers as usual until the silent part of the test begins. */
  const orSilence = <Value>(answer: () => Promise<Value>): Promise<Value> => {
    if (!isSilent) return answer();
    asking.resolve();
    return silence.promise;
  };

  async function start(silent: 'secrets' | 'statistics' | 'bucket' | 'store'): Promise<void> {
    clock = watchedClock();
    asking = Promise.withResolvers();
    silence = Promise.withResolvers();
    silence.promise.catch(() => {});
    isSilent = false;
    gateway = await startHarness({
      clock,
      models: { 'acme/model': [{ provider: 'acme', upstream: 'echo-request' }] },
      key: { rpm: 60 },
      wrapStore: (store) =>
        silent === 'store' ? { ...store, update: (update) => orSilence(() => store.update(update)) } : store,
      replace: ({ credentials, statistics, store }) => ({
        ...(silent === 'secrets'
          ? { credentials: { ...credentials, ready: () => orSilence(async () => credentials.ready()) } }
          : {}),
        ...(silent === 'statistics'
          ? { statistics: { ...statistics, current: () => orSilence(() => statistics.current()) } }
          : {}),
        idempotency: createIdempotencyStore({
          store,
          blobs: { ...blobs, get: (name) => orSilence(() => blobs.get(name)) },
        }),
      }),
    });
  }
  afterEach(async () => {
    // The silence ends, because the clean-up of refused calls waits for the service's answer.
    isSilent = false;
    silence.reject(new StoreUnavailable(new Error('no answer')));
    await gateway.stop();
  });

  it.each([
    ['secrets', hello('acme/model')],
    ['statistics', hello('acme/model', { provider: { sort: 'latency' } })],
    ['store', { model: 'acme/model', messages: 'refused for what it is, counted all the same' }],
  ] as const)('is waited for less than two seconds: %s', async (silent, body) => {
    await start(silent);
    isSilent = true;
    const answer = gateway.post(body);
    await asking.promise;
    clock.advance(1_999);
    await expectError(await answer, 503, 'RATE_LIMITER_UNAVAILABLE');
    expect(gateway.simulator.calls).toHaveLength(0);
  });

  it('is waited for less than two seconds: the bucket of a stored answer, which is neither charged nor asked for again', async () => {
    await start('bucket');
    const large = systemRandomness.bytes(400_000).toString('base64');
    const body = hello('acme/model', { messages: [{ role: 'user', content: large }] });
    const keyed = { 'idempotency-key': 'large' };
    const first = await (await gateway.post(body, keyed)).text();
    await gateway.settled();
    const { spent } = await gateway.credit();
    isSilent = true;
    const answer = gateway.post(body, keyed);
    await asking.promise;
    clock.advance(1_999);
    await expectError(await answer, 503, 'RATE_LIMITER_UNAVAILABLE');
    isSilent = false;
    expect(await (await gateway.post(body, keyed)).text()).toBe(first);
    expect(gateway.simulator.calls).toHaveLength(1);
    expect((await gateway.credit()).spent).toBe(spent);
  });
});
