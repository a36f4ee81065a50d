// The store that counts fails, or does not answer: no provider whose limits are unknown is called, and no call waits long.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { createIdempotencyStore } from '../../shared/accounting/idempotency/index.ts';
import { createProviderLimiter } from '../../shared/accounting/limits/index.ts';
import { createCooldowns } from '../../shared/accounting/provider-health/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectError } from '../support/expect-error.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type WatchedClock, watchedClock } from '../support/watched-clock.ts';

describe('a table of limits that is out of order', () => {
  let clock: WatchedClock;
  let gateway: Harness;
  let asking: PromiseWithResolvers<void>;
  let silence: PromiseWithResolvers<void>;
  /** Undefined: the table does not answer at all. */
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
    // No call to a store lasts for ever, and what a refused call leaves behind waits for it.
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
    const settled = gateway.settled().then(() => {
      isOver = true;
    });
    await clock.waitsFor((delayMs) => delayMs === 1_000);
    clock.advance(999);
    await nextTurn();
    expect(isOver).toBe(false);
    clock.advance(1);
    await settled;
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
      // It has failed two calls.
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
  /** Answers as usual until the part of the test that is silent. */
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
          ? { credentials: { ...credentials, ready: () => orSilence(() => credentials.ready()) } }
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
    // No call of a service lasts for ever, and what a refused call leaves behind waits for it.
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
