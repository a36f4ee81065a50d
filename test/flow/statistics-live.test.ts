// Live statistics end to end: results of providers are in the model list and change the order, at most a minute later.
import { afterEach, beforeEach, describe, expect, it } from '#jest';
import type { ProviderLimiter } from '../../shared/accounting/limits/index.ts';
import { createStatisticsReader, createStatisticsRecorder } from '../../shared/accounting/provider-health/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { readStream } from '../support/read-stream.ts';
import { translatedInterfaces } from '../support/spoken-interfaces.ts';
import { eventually } from '../support/watched-clock.ts';

interface Stats {
  readonly median_latency_ms: number;
  readonly throughput_rpm: string;
  readonly uptime: string;
}

const at = (price: string) => ({ input_price_per_million: price, output_price_per_million: price });
const apis = translatedInterfaces.map(({ api }) => api);
const noFigures: Stats = { median_latency_ms: 0, throughput_rpm: '0', uptime: '1' };

describe('live statistics', () => {
  let clock: ManualClock;
  let gateway: Harness;
  let store: Store;
  /** Keys of the statistics table, in the order of the writes. */
  let writes: string[];
  let isDown: boolean;

  beforeEach(async () => {
    // A window of 15 minutes begins at this time.
    clock = manualClock(1_800_000_000_000);
    writes = [];
    isDown = false;
    const watchedStore: Pick<Store, 'get' | 'put' | 'update'> = {
      get: async (...args) => (isDown ? unavailable() : store.get(...args)),
      put: async (...args) => (isDown ? unavailable() : store.put(...args)),
      update: async (update, options) => {
        writes.push(update.key);
        return isDown ? unavailable() : store.update(update, options);
      },
    };
    gateway = await startHarness({
      clock,
      models: {
        'acme/model': [
          { provider: 'cheap', upstream: 'echo', more: at('1') },
          { provider: 'quick', upstream: 'echo', more: at('3') },
          { provider: 'busy', upstream: 'echo', more: at('4') },
          { provider: 'unseen', upstream: 'echo', more: at('2') },
        ],
        'acme/failing': [
          { provider: 'cheap', upstream: 'error-500', more: at('1') },
          { provider: 'quick', upstream: 'echo', more: at('3') },
        ],
        'acme/down': [{ provider: 'cheap', upstream: 'error-500' }],
        'acme/rejecting': [{ provider: 'cheap', upstream: 'error-400' }],
        'acme/limited': [{ provider: 'cheap', upstream: 'error-429' }],
        'acme/breaking': [{ provider: 'cheap', upstream: 'cut:2' }],
        'acme/idle': [{ provider: 'cheap', upstream: 'echo' }],
        ...Object.fromEntries(
          apis.flatMap((api) =>
            ['echo', 'cut:2', 'error-500', 'error-400'].map((upstream) => [
              `${api}/${upstream.split(':')[0]}`,
              [{ provider: api, upstream }],
            ]),
          ),
        ),
      },
      providers: {
        cheap: { accepts_byok_header: true },
        ...Object.fromEntries(apis.map((api) => [api, { apis: [api] }])),
      },
      workspace: { features: { byok: true } },
      replace: () => ({
        recorder: createStatisticsRecorder({ store: watchedStore, clock, randomness: systemRandomness }),
        statistics: createStatisticsReader({ store: watchedStore, clock }),
      }),
    });
    store = gateway.testStore.store;
  });
  afterEach(() => gateway.stop());

  const unavailable = () => Promise.reject(new StoreUnavailable(new Error('down')));
  const counterWrites = () => writes.filter((key) => key.startsWith('COUNTERS')).length;

  /** Makes one call to this provider, which takes this time; resolves when the call was counted. */
  async function call(provider: string, tookMs: number, body = hello('acme/model')): Promise<Response> {
    const before = counterWrites();
    gateway.simulator.clear();
    const answer = gateway.post({ ...body, provider: { only: provider } });
    await gateway.simulator.until((calls) => calls.length === 1);
    clock.advance(tookMs);
    const response = await answer;
    await response.clone().text();
    await eventually(() => counterWrites() > before);
    return response;
  }

  async function statsOf(model: string): Promise<Stats> {
    const list = (await (await gateway.get('/models')).json()) as { data: { id: string; stats: Stats }[] };
    const found = list.data.find(({ id }) => id === model);
    if (found === undefined) throw new Error(`${model} is not listed`);
    return found.stats;
  }

  async function orderOf(sort: string | undefined): Promise<string | null> {
    const response = await gateway.post(hello('acme/model', { provider: sort === undefined ? {} : { sort } }));
    await response.text();
    return response.headers.get('x-gw-provider');
  }

  it('are the plain defaults, of the right types, if nothing was measured', async () => {
    for (const model of ['acme/model', 'acme/idle']) expect(await statsOf(model)).toEqual(noFigures);
  });

  it('show what was measured once the snapshot is a minute old, and not half of it before', async () => {
    expect(await statsOf('acme/model')).toEqual(noFigures);
    for (const tookMs of [400, 1_000, 5_000]) await call('quick', tookMs);
    clock.advance(20_000);
    expect(await statsOf('acme/model')).toEqual(noFigures);
    clock.advance(61_000);
    const stats = await statsOf('acme/model');
    expect(stats.median_latency_ms).toBeGreaterThan(940);
    expect(stats.median_latency_ms).toBeLessThan(1_060);
    expect(Number.isInteger(stats.median_latency_ms)).toBe(true);
    // The window of 16 minutes has three calls.
    expect(stats).toMatchObject({ throughput_rpm: expect.stringMatching(/^0\.1\d?$/), uptime: '1' });
    expect(await statsOf('acme/idle')).toEqual(noFigures);
  });

  it('steer sort latency and sort throughput, and nothing else', async () => {
    await call('cheap', 9_000);
    await call('quick', 50);
    for (let time = 1; time <= 4; time += 1) await call('busy', 2_000);
    clock.advance(61_000);
    expect(await orderOf('latency')).toBe('quick');
    expect(await orderOf('throughput')).toBe('busy');
    expect(await orderOf('price')).toBe('cheap');
    expect(await orderOf(undefined)).toBe('cheap');
  });

  it('take a provider that only fails for neither quick nor up', async () => {
    await call('cheap', 10, hello('acme/failing'));
    await call('quick', 3_000, hello('acme/failing'));
    await call('cheap', 10, hello('acme/down'));
    // The cooldown passes with the age of the snapshot, so only the figures are left.
    clock.advance(61_000);
    gateway.simulator.clear();
    await (await gateway.post(hello('acme/failing', { provider: { sort: 'latency' } }))).text();
    expect(gateway.simulator.calls.map(({ provider }) => provider)).toEqual(['quick']);
    expect(await statsOf('acme/failing')).toMatchObject({ uptime: '0.5' });
    expect(await statsOf('acme/down')).toEqual({ median_latency_ms: 0, throughput_rpm: '0', uptime: '0' });
  });

  it('hold nothing against a provider that a caller’s mistake, a limit or a client’s own key had refused', async () => {
    await call('cheap', 10, hello('acme/rejecting'));
    await call('cheap', 10, hello('acme/limited'));
    const response = await gateway.post(hello('acme/down', { provider: { only: 'cheap' } }), {
      'x-byok-key': 'theirs',
    });
    await response.text();
    clock.advance(61_000);
    for (const model of ['acme/rejecting', 'acme/limited', 'acme/down'])
      expect(await statsOf(model)).toEqual(noFigures);
  });

  it('count a stream that broke as a failure, and a whole one with all its time', async () => {
    await call('cheap', 10, hello('acme/breaking', { stream: true }));
    await readStream(await call('quick', 2_000, hello('acme/model', { stream: true })));
    clock.advance(61_000);
    expect(await statsOf('acme/breaking')).toMatchObject({ uptime: '0' });
    const { median_latency_ms: median } = await statsOf('acme/model');
    expect(median).toBeGreaterThan(1_880);
    expect(median).toBeLessThan(2_120);
  });

  it('are kept of providers of every format: their time, their failures, and not what they rejected', async () => {
    for (const api of apis) {
      for (const stream of [true, false]) await call(api, 2_000, hello(`${api}/echo`, { stream }));
      await call(api, 10, hello(`${api}/cut`, { stream: true }));
      await call(api, 10, hello(`${api}/error-500`));
      await call(api, 10, hello(`${api}/error-400`));
    }
    clock.advance(61_000);
    for (const api of apis) {
      const { median_latency_ms: median, ...rest } = await statsOf(`${api}/echo`);
      expect(median).toBeGreaterThan(1_880);
      expect(median).toBeLessThan(2_120);
      expect(rest).toEqual({ throughput_rpm: expect.stringMatching(/^0\.1\d?$/), uptime: '1' });
      for (const failing of ['cut', 'error-500']) {
        expect(await statsOf(`${api}/${failing}`)).toMatchObject({ median_latency_ms: 0, uptime: '0' });
      }
      expect(await statsOf(`${api}/error-400`)).toEqual(noFigures);
    }
  });

  it('measure the provider alone: what its admission took is not its doing', async () => {
    const limiter: ProviderLimiter = {
      async admit() {
        clock.advance(1_500);
        return { kind: 'admitted', permit: { key: '', id: '', countedAtMs: 0, demands: [] } };
      },
      settle: async () => {},
      release: async () => {},
    };
    const recorded: number[] = [];
    const { recorder } = gateway.composition;
    const slow = await startHarness({
      clock,
      models: { 'acme/model': [{ provider: 'acme', upstream: 'echo' }] },
      replace: () => ({ limiter, recorder: { ...recorder, record: ({ latencyMs }) => void recorded.push(latencyMs) } }),
    });
    for (const stream of [false, true]) {
      slow.simulator.clear();
      const answer = slow.post(hello('acme/model', { stream }));
      await slow.simulator.until((calls) => calls.length === 1);
      clock.advance(70);
      await (await answer).text();
    }
    await slow.stop();
    expect(recorded).toEqual([70, 70]);
  });

  it('cost one write for a call, also for one that fell back, and none for one that reached no provider', async () => {
    await (await gateway.post(hello('acme/model'))).text();
    await eventually(() => counterWrites() === 1);
    await (await gateway.post(hello('acme/failing'))).text();
    await eventually(() => counterWrites() === 2);
    await (await gateway.post(hello('acme/model', { provider: { max_price: 0 } }))).text();
    await (await gateway.post(hello('nobody/nothing'))).text();
    await (await gateway.post(hello('acme/model'))).text();
    await eventually(() => counterWrites() >= 3);
    await gateway.stop();
    expect(counterWrites()).toBe(3);
    gateway = await startHarness({ models: { 'acme/model': [] } });
  });

  it('are never a reason to fail: with their table gone calls are served and the list has its defaults', async () => {
    isDown = true;
    expect(await orderOf('latency')).toBe('cheap');
    expect(await statsOf('acme/model')).toEqual(noFigures);
    expect(await orderOf(undefined)).toBe('cheap');
  });
});
