// However a call ends, its cost is charged exactly once, nothing stays reserved, and one record says so.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { createGateway } from '../../functions/gateway/routes.ts';
import { readKeySpending } from '../../shared/accounting/holds/index.ts';
import { holdLifeMs, requestBudgetMs, streamReadOnMaxMs } from '../../shared/foundation/constants/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';
import { StoreUnavailable } from '../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { callGateway } from '../support/call-gateway.ts';
import { dyingProcess } from '../support/dying-process.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { outcomeOf } from '../support/outcomes.ts';
import { readUntil } from '../support/read-stream.ts';
import { awaitingClock, eventually } from '../support/watched-clock.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

const dear = { input_price_per_million: '3.00', output_price_per_million: '9.00' };
const backed = (upstream: string) => [
  { provider: 'acme', upstream },
  { provider: 'good', upstream: 'usage:1000:500', more: dear },
];
const alone = [
  'error-400',
  'error-429',
  'error-500',
  'error-html',
  'reset',
  'cut',
  'cut-clean',
  'garbage',
  'empty-stream',
  'error-after-role',
  'error-after-chunks:3',
  'silent',
  'slow:300',
  'slow-chunks:10',
];
const models = {
  ...Object.fromEntries(alone.map((upstream) => [`alone/${upstream}`, [{ provider: 'acme', upstream }]])),
  ...Object.fromEntries(['error-500', 'error-after-role'].map((upstream) => [`backed/${upstream}`, backed(upstream)])),
};
/** The cost of 1,000 and 500 tokens at the prices of the second provider. */
const dearCost = 7_500_000_000n;

describe('a call', () => {
  let harness: Harness;
  const clock = awaitingClock();
  let spentBefore = 0n;

  beforeAll(async () => {
    harness = await startHarness({
      clock,
      models,
      key: { spend_limit_usd: '50' },
      workspace: { spend_limit_usd: '60' },
    });
  });
  afterAll(() => harness.stop());

  /** Returns the charge of the last call, and its record. */
  async function booked() {
    await harness.settled();
    // Two calls must not have records of the same millisecond, because the last record is the one to look at.
    clock.advance(1);
    const spent = await expectBalancedBooks(harness);
    const charged = spent - spentBefore;
    spentBefore = spent;
    const record = (await harness.records()).at(-1);
    expect(record?.costPicoUsd).toBe(charged);
    expect(BigInt(((await harness.keyItem()).spent_pico_usd as number) ?? 0)).toBe(spent);
    return { charged, record };
  }

  it.each([false, true])('that falls back pays the provider that answered: stream %s', async (stream) => {
    const model = stream ? 'backed/error-after-role' : 'backed/error-500';
    expect(await outcomeOf(await harness.post(hello(model, { stream })))).toBe('ok');
    const { charged, record } = await booked();
    expect(charged).toBe(dearCost);
    expect(record).toMatchObject({ outcome: 'ok', provider: 'good', attempts: 2 });
    expect(record?.attemptCauses).toHaveLength(1);
  });

  const failing: [string, string, boolean][] = [
    ['error-400', 'invalid_request', false],
    ['error-400', 'invalid_request', true],
    ['error-429', 'rate_limited', false],
    ['error-500', 'no_available_provider', false],
    ['error-500', 'no_available_provider', true],
    ['error-html', 'no_available_provider', true],
    ['reset', 'no_available_provider', false],
    ['cut', 'no_available_provider', false],
    ['cut-clean', 'no_available_provider', false],
    ['garbage', 'no_available_provider', false],
    ['empty-stream', 'no_available_provider', true],
    ['error-after-role', 'no_available_provider', true],
  ];

  it.each(failing)(
    'that fails before its first output costs nothing: %s, %s, stream %s',
    async (name, code, stream) => {
      harness.simulator.clear();
      // This gateway has new sockets: a call on a broken socket that has served before would be sent once more.
      const { post, settled } = await harness.open();
      expect(await outcomeOf(await post(hello(`alone/${name}`, { stream })))).toBe(code);
      await settled();
      const { charged, record } = await booked();
      expect(charged).toBe(0n);
      expect(harness.simulator.calls).toHaveLength(1);
      expect(record).toMatchObject({ outcome: code, attempts: 1, promptTokens: 0, completionTokens: 0 });
      expect(record).not.toHaveProperty('provider');
    },
  );

  it.each(['error-after-chunks:3', 'cut'])('whose stream breaks pays for what was relayed: %s', async (name) => {
    const text = await (await harness.post(hello(`alone/${name}`, { stream: true }))).text();
    expect(text).toContain('"code":"no_available_provider"');
    const { charged, record } = await booked();
    expect(charged).toBeGreaterThan(0n);
    expect(record).toMatchObject({ outcome: 'cut', cutCode: 'no_available_provider', estimated: true, attempts: 1 });
  });

  const abandonedCall = async (body: Record<string, unknown>, model: string) => {
    harness.simulator.clear();
    const client = new AbortController();
    const answer = harness.post(hello(model, body), {}, client.signal);
    await harness.simulator.until((calls) => calls.length === 1);
    client.abort();
    await expect(answer).rejects.toThrow();
    // This request is answered after the gateway has seen the connection close.
    await (await fetch(`${harness.url}/models`)).text();
  };

  it('whose client leaves before the JSON answer pays for it when it comes', async () => {
    await abandonedCall({}, 'alone/slow:300');
    const { charged, record } = await booked();
    expect(charged).toBeGreaterThan(0n);
    expect(record).toMatchObject({ outcome: 'client_gone', provider: 'acme', attempts: 1, estimated: false });
  });

  it('whose client leaves a stream before its last chunk pays what the provider reports, not what was relayed', async () => {
    const client = new AbortController();
    const whole = await (await harness.post(hello('alone/slow-chunks:10'))).json();
    const { charged: price } = await booked();
    const response = await harness.post(hello('alone/slow-chunks:10', { stream: true }), {}, client.signal);
    await readUntil(response, 'content');
    client.abort();
    const { charged, record } = await booked();
    expect(charged).toBe(price);
    expect(record).toMatchObject({ outcome: 'client_gone', estimated: false });
    expect(record?.completionTokens).toBe((whole as { usage: { completion_tokens: number } }).usage.completion_tokens);
  });

  it.each([
    [true, streamReadOnMaxMs],
    [false, requestBudgetMs],
  ])('whose client leaves a provider that never answers costs nothing: stream %s', async (stream, readOnMs) => {
    await abandonedCall({ stream }, 'alone/silent');
    // The timers of both run from the request on, so they do not show that the server has seen the client leave.
    for (let round = 0; round < 20; round++) await fetch(new URL('/health', harness.url));
    await eventually(() => clock.isAwaiting(readOnMs));
    clock.advance(readOnMs);
    const { charged, record } = await booked();
    expect(charged).toBe(0n);
    expect(record).toMatchObject({ outcome: 'client_gone', attempts: 1 });
  });
});

describe('a fault of ours', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await startHarness({
      models: {
        'a/ok': [{ provider: 'acme', upstream: 'usage:1000:500' }],
        'a/bad': [{ provider: 'acme', upstream: 'error-500' }],
      },
      key: { spend_limit_usd: '50', rpm: 1_000 },
    });
  });
  afterAll(() => harness.stop());

  const fault = () => {
    throw new TypeError('injected');
  };

  it.each(['limiter', 'transport', 'recorder', 'responseCache', 'cooldowns', 'idempotency'] as const)(
    'leaves the books balanced, whatever part of us it is in: %s',
    async (part) => {
      const { post, settled } = await harness.open({
        replace: (composition) => {
          const faulty = Object.fromEntries(Object.keys(composition[part]).map((name) => [name, fault]));
          // Reads still work until the call reserves something.
          const faultyClients = {
            cooldowns: { ...composition.cooldowns, report: fault, flush: fault },
            transport: { ...composition.transport, send: fault },
          };
          return { [part]: { ...faulty, ...(faultyClients as Record<string, object>)[part] } };
        },
      });
      const headers = (id: string) => ({ 'idempotency-key': id, 'x-gw-span-id': id });
      for (const stream of [false, true]) {
        for (const model of ['a/ok', 'a/bad']) {
          const body = hello(model, { stream, cache: { namespace: part } });
          const response = await post(body, headers(`${part}-${model}-${stream}`));
          expect(await response.text()).not.toContain('injected');
        }
      }
      await settled();
      await expectBalancedBooks(harness);
    },
  );
});

// A store that is away when a call settles: the client has its answer, and the call is charged exactly once.
describe('a store that is away', () => {
  /**
   * Pauses between tries take no time, except the first; time limits do, and they are counted in slices of the same
   * length.
   */
  const quickClock: Clock = {
    ...systemClock,
    after: (delayMs, callback) => systemClock.after(delayMs > 100 && delayMs < 1_000 ? 0 : delayMs, callback),
  };

  /** Returns whether the write settles a call: it adds the call's mark to the item. */
  const isSettlement = ({ method, table, changes }: StoreCall): boolean =>
    method === 'update' && (table === 'keys' || table === 'ledger') && changes.addElements !== undefined;
  /** The three places that store what a call has cost. */
  const places = ['key', 'workspace', 'record'] as const;
  type Place = (typeof places)[number];
  const placeOf = (call: StoreCall): Place | undefined => {
    if (call.table === 'records') return 'record';
    if (!isSettlement(call)) return undefined;
    return call.table === 'keys' ? 'key' : 'workspace';
  };
  const chargedCounters = ['key', 'workspace'] as const;
  /** Every combination of written and missing writes of the three; the record comes last. */
  const killedBetween = Array.from({ length: 2 ** chargedCounters.length }, (_, bits) =>
    chargedCounters.filter((_place, index) => ((bits >> index) & 1) === 1),
  );

  const models = { 'acme/paid': [{ provider: 'acme', upstream: 'usage:1000:500' }] };
  const cost = 2_000_000_000n;

  describe('a settlement', () => {
    let harness: Harness;
    let fails: (call: StoreCall) => 'before' | 'after' | undefined;
    afterEach(() => harness.stop());

    const start = (clock: Clock = quickClock) =>
      startHarness({
        clock,
        models,
        key: { spend_limit_usd: '0.05' },
        wrapStore: (store) =>
          aroundStore(store, async (call, run) => {
            const when = fails(call);
            if (when === 'before') throw new StoreUnavailable(new Error('injected'));
            const answer = await run();
            if (when === 'after') throw new StoreUnavailable(new Error('injected'));
            return answer;
          }),
      });

    const times = (most: number, matches: (call: StoreCall) => boolean, when: 'before' | 'after') => {
      let remaining = most;
      fails = (call) => (matches(call) && remaining-- > 0 ? when : undefined);
    };

    it.each(['before', 'after'] as const)(
      'whose writes fail is tried again and charges once: answer lost %s the write',
      async (when) => {
        fails = () => undefined;
        harness = await start();
        for (const stream of [false, true]) {
          times(6, isSettlement, when);
          expect(await outcomeOf(await harness.post(hello('acme/paid', { stream })))).toBe('ok');
          // A simultaneous call would share a write that fails.
          await harness.settled();
        }
        expect(await expectBalancedBooks(harness)).toBe(2n * cost);
        expect(harness.logLines.filter((line) => line.includes('settlement_failed'))).toEqual([]);
      },
    );

    it('writes the record after the money, so that none says more than was charged', async () => {
      const order: string[] = [];
      harness = await startHarness({
        models,
        key: { spend_limit_usd: '0.05' },
        wrapStore: (store) =>
          aroundStore(store, async (call, run) => {
            const place = placeOf(call);
            if (place !== undefined) order.push(`${place} begins`);
            const answer = await run();
            if (place !== undefined) order.push(`${place} is written`);
            return answer;
          }),
      });
      expect(await outcomeOf(await harness.post(hello('acme/paid')))).toBe('ok');
      await harness.settled();
      // Key and workspace are charged in one round.
      expect(order.slice(0, 2).toSorted()).toEqual(['key begins', 'workspace begins']);
      expect(order.slice(2, 4).toSorted()).toEqual(['key is written', 'workspace is written']);
      expect(order.slice(4)).toEqual(['record begins', 'record is written']);
      expect(await harness.records()).toHaveLength(1);
      expect(await expectBalancedBooks(harness)).toBe(cost);
    });

    it('whose record is refused for a while writes it in the end, once', async () => {
      times(3, ({ table }) => table === 'records', 'after');
      harness = await start();
      expect(await outcomeOf(await harness.post(hello('acme/paid')))).toBe('ok');
      await harness.settled();
      expect(await harness.records()).toHaveLength(1);
      expect(await expectBalancedBooks(harness)).toBe(cost);
    });

    it('ends within what the runtime has left: with a second to go each write is tried once, with a minute five times', async () => {
      // The clock stands still: the time left is what the test says.
      const clock: Clock = { ...quickClock, nowMs: () => 1_800_000_000_000 };
      harness = await start(clock);
      const gateway = createGateway(harness.composition);
      const body = Buffer.from(JSON.stringify(hello('acme/paid', { max_tokens: 100 })));
      const headers = { authorization: [`Bearer ${harness.key}`], 'content-type': ['application/json'] };
      let writes = 0;
      fails = (call) => {
        if (!isSettlement(call)) return undefined;
        writes += 1;
        return 'before';
      };
      const writesWith = async (leftMs: number) => {
        writes = 0;
        const arrivedAtMs = clock.nowMs();
        const reply = await callGateway(gateway, { headers, body, arrivedAtMs, endsAtMs: arrivedAtMs + leftMs });
        expect(reply.status).toBe(200);
        return writes;
      };
      const inAMinute = await writesWith(60_000);
      expect(inAMinute).toBeGreaterThan(0);
      expect((await writesWith(1_000)) * 5).toBe(inAMinute);
      expect(harness.logLines.filter((line) => line.includes('settlement_failed'))).toHaveLength(2);
    });

    it('that never gets through changes no answer, is logged, and its reservation ends with its lease', async () => {
      times(Number.POSITIVE_INFINITY, isSettlement, 'before');
      harness = await start();
      const answer = await harness.post(hello('acme/paid', { max_tokens: 10_000 }), { 'idempotency-key': 'k' });
      expect(await outcomeOf(answer)).toBe('ok');
      await harness.settled();
      expect(harness.logLines.filter((line) => line.includes('settlement_failed'))).toHaveLength(1);
      expect((await harness.credit()).held).toBeGreaterThan(0n);
      // No record reports an amount that was not charged.
      expect(await harness.records()).toEqual([]);
      fails = () => undefined;
      // The key has 0.05 USD: with 0.02 reserved a call of 0.04 does not fit; after the lease it does.
      const clock = manualClock(systemClock.nowMs() + holdLifeMs - 5_000);
      const later = await harness.open({ clock });
      const big = hello('acme/paid', { max_tokens: 20_000 });
      expect(await outcomeOf(await later.post(big))).toBe('PAYMENT_REQUIRED');
      // The reservation ends up to five seconds after the lease, and the call came after this clock was set.
      clock.advance(12_000);
      expect(await outcomeOf(await later.post(big))).toBe('ok');
      await later.settled();
      const { held, spent } = await harness.credit();
      expect({ held, spent }).toEqual({ held: 0n, spent: cost });
      // The answer was stored, so a retry costs nothing.
      const replay = await later.post(hello('acme/paid', { max_tokens: 10_000 }), { 'idempotency-key': 'k' });
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
      await replay.text();
    });

    it('that comes after another call has released its reservation is charged all the same, and said', async () => {
      fails = () => undefined;
      let meanwhile: (() => Promise<void>) | undefined;
      harness = await startHarness({
        clock: quickClock,
        models,
        wrapStore: (store) =>
          aroundStore(store, async (call, run) => {
            const first = isSettlement(call) && call.table === 'ledger' ? meanwhile : undefined;
            if (first !== undefined) meanwhile = undefined;
            await first?.();
            return run();
          }),
      });
      const later = await harness.open({ clock: manualClock(systemClock.nowMs() + holdLifeMs + 30_000) });
      meanwhile = async () => {
        expect(await outcomeOf(await later.post(hello('acme/paid')))).toBe('ok');
        await later.settled();
      };
      expect(await outcomeOf(await harness.post(hello('acme/paid')))).toBe('ok');
      await harness.settled();
      expect(harness.logLines.filter((line) => line.includes('"settlement_late"'))).toHaveLength(1);
      expect(await harness.credit()).toMatchObject({ held: 0n, spent: 2n * cost });
    });

    it('that a kill cuts in two is in the figures that were written, in no other, and leaves nothing else behind', async () => {
      let aheadMs = 0;
      const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
      harness = await startHarness({ clock, models, key: { spend_limit_usd: '5.00' } });
      const headers = { authorization: [`Bearer ${harness.key}`], 'content-type': ['application/json'] };
      const body = Buffer.from(JSON.stringify(hello('acme/paid')));
      const request = (idempotencyKey: string) => ({
        headers: { ...headers, 'idempotency-key': [idempotencyKey] },
        body,
        arrivedAtMs: clock.nowMs(),
      });

      async function callAndDie(idempotencyKey: string, places: readonly Place[]): Promise<void> {
        const dying = dyingProcess({ at: Number.POSITIVE_INFINITY, lastOneRuns: false });
        // These writes get no answer, so the record is not begun.
        const open = new Set<Place>(chargedCounters);
        const isOver = Promise.withResolvers<void>();
        let isAnswered = false;
        const { composition } = await harness.open({
          clock: dying.wrap.clock(clock),
          wrapStore: (store) =>
            aroundStore(store, async (call, run) => {
              if (!isAnswered) return run();
              const place = placeOf(call);
              if (place !== undefined && places.includes(place)) await run();
              if (place !== undefined) open.delete(place);
              if (open.size === 0) isOver.resolve();
              return new Promise<never>(() => {});
            }),
        });
        void callGateway(createGateway(composition), request(idempotencyKey), {
          onReply: ({ status }) => {
            isAnswered = true;
            expect(status).toBe(200);
          },
        });
        await isOver.promise;
        dying.kill();
      }

      async function figures() {
        const { granted, available, held, expired, spent } = await harness.credit();
        const key = readKeySpending(await harness.keyItem(), clock.nowMs());
        const records = await harness.records();
        expect(granted).toBe(available + held + spent);
        return {
          key: key?.spent,
          workspace: spent,
          record: records.reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n),
          keyHeld: key?.held,
          held: held + expired,
        };
      }

      const owed: Record<Place, bigint> = { key: 0n, workspace: 0n, record: 0n };
      for (const storedPlaces of killedBetween) {
        const idempotencyKey = `killed-${storedPlaces.join('-')}`;
        await callAndDie(idempotencyKey, storedPlaces);
        for (const place of storedPlaces) owed[place] += cost;
        expect(await figures()).toMatchObject(owed);
        // The answer was stored before the client had its end: its retry costs nothing and charges nothing.
        aheadMs += holdLifeMs + 10_000;
        const survivor = createGateway(harness.composition);
        const retry = await callGateway(survivor, request(idempotencyKey));
        expect(retry.headers).toMatchObject({ 'idempotent-replayed': 'true' });
        expect(await figures()).toMatchObject(owed);
        // The next caller's write releases what is still reserved, and charges only its own call.
        expect((await callGateway(survivor, request(`next-${idempotencyKey}`))).status).toBe(200);
        for (const place of places) owed[place] += cost;
        expect(await figures()).toEqual({ ...owed, keyHeld: 0n, held: 0n });
      }
      expect(harness.simulator.calls).toHaveLength(2 * killedBetween.length);
      expect(harness.logLines.filter((line) => /settlement_(late|failed)/.test(line))).toEqual([]);
    });
  });
});
