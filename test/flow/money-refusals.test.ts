// A refused call gets the error that comes first in the order of checks, and everything that the call took is released.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { type FileParts, newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

interface Fault {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  readonly headers?: Record<string, string>;
  readonly body?: Record<string, unknown>;
  readonly key?: 'rateLimited' | 'poor';
}

const fault = (name: string, status: number, code: string, rest: Omit<Fault, 'name' | 'status' | 'code'>): Fault => ({
  name,
  status,
  code,
  ...rest,
});

/** The faults are in the order in which a call is checked. */
const faults: readonly Fault[] = [
  fault('requests per minute', 429, 'api_key_rate_limit', { key: 'rateLimited' }),
  fault('idempotency', 409, 'idempotency_conflict', { headers: { 'idempotency-key': 'used' } }),
  fault('span', 409, 'duplicate_span_id', { headers: { 'x-gw-span-id': 'used' } }),
  fault('BYOK header', 403, 'byok_not_enabled', { headers: { 'x-byok-key': 'sk-mine' } }),
  fault('preset', 404, 'preset_not_found', { body: { preset: 'nobody' } }),
  fault('price cap', 402, 'price_cap_exceeded', { body: { provider: { max_price: 0.000001 } } }),
  fault('money', 402, 'PAYMENT_REQUIRED', { key: 'poor' }),
  fault('provider admission', 429, 'rate_limited', { body: { model: 'acme/full' } }),
];

const pairs = faults.flatMap((first, position) =>
  faults
    .slice(position + 1)
    .filter((second) => first.key === undefined || second.key === undefined)
    .map((second): [string, Fault, Fault] => [`${first.name} before ${second.name}`, first, second]),
);

const limits = { rate_limit_rpm: 2, rate_limit_tpm: 1_000_000, rate_limit_tpd: 1_000_000 };
const models: FileParts['models'] = {
  'acme/open': [{ provider: 'acme', upstream: 'echo', more: limits }],
  'acme/full': [{ provider: 'acme', upstream: 'echo', more: { ...limits, rate_limit_rpm: 1 } }],
};

describe('a refused call', () => {
  let harness: Harness;
  const keys = { rateLimited: newKey(), poor: newKey() };

  beforeAll(async () => {
    const parts = { models, service: { queue_ms: 0 } };
    harness = await startHarness({ clock: manualClock(), ...parts });
    const more = [
      { name: 'first', key: harness.key, spend_limit_usd: '50' },
      { name: 'rateLimited', key: keys.rateLimited, rpm: 1 },
      { name: 'poor', key: keys.poor, spend_limit_usd: '0.000001' },
    ];
    await harness.apply({ ...parts, workspace: { features: { presets: true }, keys: more } });
    const used = [
      harness.post(hello('acme/full'), { authorization: `Bearer ${keys.rateLimited}` }),
      harness.post(hello('acme/open'), { 'idempotency-key': 'used', 'x-gw-span-id': 'used' }),
    ];
    for (const answer of used) expect(await outcomeOf(await answer)).toBe('ok');
    await harness.settled();
    harness.simulator.clear();
  });
  afterAll(() => harness.stop());

  const send = (...faults: readonly Fault[]) => {
    const key = faults.map((one) => one.key).find((name) => name !== undefined);
    const headers = Object.assign({}, ...faults.map((one) => one.headers ?? {}));
    const body = Object.assign(hello('acme/open'), { seed: 1 }, ...faults.map((one) => one.body ?? {}));
    return harness.post(body, {
      'idempotency-key': 'fresh',
      'x-gw-span-id': 'fresh',
      ...(key === undefined ? {} : { authorization: `Bearer ${keys[key]}` }),
      ...headers,
    });
  };

  it.each(faults.map((one): [string, Fault] => [one.name, one]))('names its fault: %s', async (_name, one) => {
    // A span id of a call that must not be retried stays used, so each call has its own span id.
    const span = one.headers?.['x-gw-span-id'] ?? one.name.replaceAll(' ', '.');
    const headers = { ...one.headers, 'x-gw-span-id': span };
    await expectError(await send({ ...one, headers }), one.status, one.code);
  });

  it.each(pairs)('names the fault that comes first: %s', async (name, first, second) => {
    const headers = { 'x-gw-span-id': name.replaceAll(' ', '.'), ...second.headers, ...first.headers };
    await expectError(await send({ ...second, headers }, { ...first, headers }), first.status, first.code);
  });

  it('has called no provider, reserves nothing, and left key, slot and record alone', async () => {
    await harness.settled();
    expect(harness.simulator.calls).toHaveLength(0);
    await expectBalancedBooks(harness);
    const records = await harness.records();
    expect(records.filter(({ attempts }) => attempts > 0).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect(records.filter(({ costPicoUsd }) => costPicoUsd > 0n)).toHaveLength(2);
    // The limit is two requests a minute, and one was made above. Every refused call has released its slot.
    const again = await harness.post(hello('acme/open'), { 'idempotency-key': 'fresh', 'x-gw-span-id': 'last' });
    expect(await outcomeOf(again)).toBe('ok');
  });
});

describe('a store that fails during admission', () => {
  let harness: Harness;
  let failing: ((call: StoreCall) => 'before' | 'after' | undefined) | undefined;

  const clock = manualClock(systemClock.nowMs());

  beforeAll(async () => {
    harness = await startHarness({
      clock,
      models: { 'acme/open': [{ provider: 'acme', upstream: 'echo', more: { ...limits, rate_limit_rpm: 1_000 } }] },
      key: { rpm: 10_000, spend_limit_usd: '50' },
      wrapStore: (store) =>
        aroundStore(store, async (call, run) => {
          const when = failing?.(call);
          if (when === 'before') throw new StoreUnavailable(new Error('injected'));
          const answer = await run();
          if (when === 'after') throw new StoreUnavailable(new Error('injected'));
          return answer;
        }),
    });
    expect(await outcomeOf(await harness.post(hello('acme/open')))).toBe('ok');
    await harness.settled();
    harness.simulator.clear();
  });
  afterAll(() => harness.stop());

  it.each([undefined, 'write_queue'] as const)(
    'is logged as one of a stage that is too small only if the process did not even ask: %s',
    async (exhausted) => {
      failing = ({ table }) => {
        if (table === 'ledger') throw new StoreUnavailable(new Error('injected'), exhausted);
        return undefined;
      };
      const refusal = await harness.post(hello('acme/open'), { 'idempotency-key': `exhausted-${exhausted}` });
      failing = undefined;
      await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
      await harness.settled();
      const lines = harness.logLines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request');
      expect(lines.at(-1)).toMatchObject({ outcome: 'RATE_LIMITER_UNAVAILABLE' });
      const { exhausted: limits, unanswered } = lines.at(-1);
      expect([limits, unanswered]).toEqual([exhausted, exhausted === undefined ? true : undefined]);
      expect(harness.simulator.calls).toHaveLength(0);
    },
  );

  const tables = ['keys', 'ledger', 'idempotency', 'spans', 'limits'];
  const cases = tables.flatMap((table): [string, 'before' | 'after'][] => [
    [table, 'before'],
    [table, 'after'],
  ]);

  it.each(cases)(
    'is a 503 without a provider call, reserves nothing longer than its lease, and the same call runs again: %s, answer lost %s the write',
    async (table, when) => {
      const id = `${table}-${when}`;
      const call = () => harness.post(hello('acme/open'), { 'idempotency-key': id, 'x-gw-span-id': id });
      // Only the first call to this table fails: later calls are the gateway's repairs.
      let isDone = false;
      failing = (call) => {
        if (isDone || call.table !== table) return undefined;
        isDone = true;
        return when;
      };
      const refusal = await call();
      await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
      expect(refusal.headers.get('retry-after')).toBe('1');
      await harness.settled();
      failing = undefined;
      expect(harness.simulator.calls).toHaveLength(0);
      // It is unknown then whether the reservation was written, so it is not released: it expires.
      if (/keys|ledger/.test(table) && when === 'after') clock.advance(holdLifeMs + 5_000);
      else await expectBalancedBooks(harness);
      expect(await outcomeOf(await call())).toBe('ok');
      await harness.settled();
      await expectBalancedBooks(harness);
      harness.simulator.clear();
    },
  );

  it('gives no stored answer to a key that it could not ask', async () => {
    const call = () => harness.post(hello('acme/open'), { 'idempotency-key': 'stored-before' });
    expect(await outcomeOf(await call())).toBe('ok');
    await harness.settled();
    failing = ({ table }) => (table === 'keys' ? 'before' : undefined);
    const refusal = await call();
    failing = undefined;
    await expectError(refusal, 503, 'RATE_LIMITER_UNAVAILABLE');
    const replay = await call();
    expect([replay.headers.get('idempotent-replayed'), await outcomeOf(replay)]).toEqual(['true', 'ok']);
    expect(harness.simulator.calls).toHaveLength(1);
    harness.simulator.clear();
  });

  it('never is in the way of the response cache, which is not needed to be right', async () => {
    failing = ({ table }) => (table === 'cache' ? 'before' : undefined);
    const response = await harness.post(hello('acme/open', { cache: {} }));
    expect(response.headers.get('x-gw-cache')).toBe('MISS');
    expect(await outcomeOf(response)).toBe('ok');
    await harness.settled();
    failing = undefined;
  });
});
