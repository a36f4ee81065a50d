// Concurrent calls of a key, of a workspace and of the service. There are never more than allowed, no caller pays for
// the calls of another, and a client that waits for its answers is never refused.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { nextTurn, systemClock } from '../../shared/foundation/time/index.ts';
import { expectError } from '../support/expect-error.ts';
import { ask, modelsFor, prompt } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { countOutcomes } from '../support/outcomes.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

describe('calls in flight', () => {
  let harness: Harness;
  let holdingProvider: ScriptedProvider;
  const waiting: (() => void)[] = [];
  /** When true, the provider answers at once, so calls that a failed test left open end too. */
  let isOver = false;
  const keys = {
    single: newKey(),
    poor: newKey(),
    pair: newKey(),
    spread: newKey(),
    plain: newKey(),
    crowd: newKey(),
    byok: newKey(),
  };

  beforeAll(async () => {
    process.env.GW_TEST_BYOK = 'byok-key';
    holdingProvider = await startScriptedProvider((outgoing) => {
      const answer = () => sendJson(outgoing, completionOf({ content: 'done' }));
      if (isOver) answer();
      else waiting.push(answer);
    });
    harness = await startHarness({
      models: {
        ...modelsFor(['echo', 'error-500', 'stream']),
        'acme/held': [{ provider: 'held', upstream: 'held' }],
        'mine/echo': [{ provider: 'mine', upstream: 'echo' }],
      },
      providers: { held: { base_url: holdingProvider.url } },
      service: { concurrency: 5 },
      key: { concurrency: 3, rpm: 100_000, spend_limit_usd: '50' },
      workspace: {
        functions: [prompt('held', { model: 'acme/held' }), prompt('quick')],
        features: { byok: false, presets: false },
      },
      moreWorkspaces: [
        { id: 'pair', credit_usd: '10', concurrency: 2, keys: [{ name: 'p', key: keys.pair }] },
        { id: 'spread', credit_usd: '10', credit_shards: 4, concurrency: 2, keys: [{ name: 'm', key: keys.spread }] },
        { id: 'poor', credit_usd: '0.01', concurrency: 4, keys: [{ name: 'o', key: keys.poor, concurrency: 1 }] },
        {
          id: 'byok',
          credit_usd: '10',
          features: { byok: true },
          byok: {
            connections: [
              { provider: 'mine', key: { env: 'GW_TEST_BYOK' }, policy: 'allowed', budget_usd: '0.000001' },
            ],
          },
          keys: [{ name: 'byok', key: keys.byok, concurrency: 1 }],
        },
        {
          id: 'single',
          credit_usd: '10',
          functions: [prompt('held', { model: 'acme/held' })],
          keys: [
            { name: 's', key: keys.single, concurrency: 1 },
            { name: 'plain', key: keys.plain },
            { name: 'crowd', key: keys.crowd, concurrency: 3 },
          ],
        },
      ],
    });
  });
  afterAll(async () => {
    isOver = true;
    letAllGo();
    await harness.stop();
    await holdingProvider.stop();
  });
  beforeEach(() => harness.simulator.clear());

  const letAllGo = () => {
    for (const answer of waiting.splice(0)) answer();
  };
  afterEach(letAllGo);

  const as = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name]}` });
  const slow = (headers?: Record<string, string>) => harness.post(hello('acme/held'), headers);
  const isHeld = (count: number) => eventually(() => waiting.length === count);
  async function letGo(count: number, running: readonly Promise<Response>[]): Promise<void> {
    for (const answer of waiting.splice(0, count)) answer();
    for (const one of running) expect((await one).status).toBe(200);
  }
  async function expectRefusal(answer: Promise<Response>, code: string, whose: RegExp): Promise<void> {
    const refusal = await answer;
    expect(refusal.headers.get('retry-after')).toBe('1');
    expect((await expectError(refusal, 429, code)).message).toMatch(whose);
  }
  async function expectAllFree(): Promise<void> {
    await harness.settled();
    for await (const item of harness.testStore.store.scan('ledger')) {
      expect([item.pk, Number(item.balance_slots ?? 0)]).toEqual([item.pk, 0]);
    }
    for await (const item of harness.testStore.store.scan('keys')) expect(Number(item.balance_slots ?? 0)).toBe(0);
    for (const workspace of ['team', 'single', 'pair', 'spread', 'poor', 'byok'])
      expect((await harness.credit(workspace)).held).toBe(0n);
  }

  it('of a key are refused beyond its own, on every interface, and cost nothing', async () => {
    const running = [slow(), slow(), slow()];
    await isHeld(3);
    const before = await harness.credit();
    await expectRefusal(slow(), 'api_key_rate_limit', /^The key may have 3 calls in flight at once, its concurrency/);
    await expectRefusal(harness.post(ask('quick')), 'api_key_rate_limit', /^The key may have 3 calls/);
    expect((await harness.post({ ...hello('acme/echo'), stream: true })).status).toBe(429);
    expect((await harness.get('/models')).status).toBe(200);
    expect((await harness.credit()).held).toBe(before.held);
    expect([holdingProvider.bodies.length, harness.simulator.calls.length]).toEqual([3, 0]);
    // Another key is served meanwhile.
    expect((await harness.post(hello('acme/echo'), as('pair'))).status).toBe(200);
    await letGo(3, running);
    await expectAllFree();
  });

  it('of one key leave the others what the service has, however many calls come at once', async () => {
    const crowd = startCrowd(60, () => slow(as('crowd')));
    expect((await harness.post(hello('acme/echo'), as('plain'))).status).toBe(200);
    await crowd.areAllBut(3);
    await isHeld(3);
    const other = [slow(as('plain')), slow(as('plain'))];
    await isHeld(5);
    await expectRefusal(slow(as('plain')), 'rate_limited', /^The gateway may have 5 calls in flight at once/);
    await letGo(5, other);
    expect(await crowd.outcomes).toEqual({ ok: 3, api_key_rate_limit: 57 });
    await expectAllFree();
  });

  /** Starts many calls. `areAllBut` resolves when all other calls have their answer. */
  function startCrowd(count: number, call: () => Promise<Response>) {
    let answerCount = 0;
    const outcomes = countOutcomes(
      Array.from({ length: count }, async () => {
        const answer = await call();
        answerCount += 1;
        return answer;
      }),
    );
    return { outcomes, areAllBut: (heldCount: number) => eventually(() => answerCount === count - heldCount) };
  }

  /** Opens a gateway that counts the most slots of the service that it had taken. */
  async function openCounted() {
    let [takenSlots, takenMax] = [0, 0];
    const counted = await harness.open({
      wrapStore: (store) =>
        aroundStore(store, async ({ key, changes }, run) => {
          const answer = await run();
          const isWritten = (answer as { kind?: string } | undefined)?.kind === 'written';
          if (key.startsWith('SERVICECALLS') && isWritten) takenSlots -= Number(changes.add?.balance_slots ?? 0);
          takenMax = Math.max(takenMax, takenSlots);
          return answer;
        }),
    });
    return { counted, takenMax: () => takenMax };
  }

  it('of a key beyond its own take no slot of the service, not even for a moment: one call, or all of a crowd', async () => {
    const { counted, takenMax } = await openCounted();
    const crowd = startCrowd(60, () => counted.post(hello('acme/held'), as('crowd')));
    await crowd.areAllBut(3);
    await isHeld(3);
    await letGo(3, []);
    expect(await crowd.outcomes).toEqual({ ok: 3, api_key_rate_limit: 57 });
    expect(takenMax()).toBe(3);
    // This process has refused no call yet.
    const other = await openCounted();
    const running = Array.from({ length: 3 }, () => other.counted.post(hello('acme/held')));
    await isHeld(3);
    await expectRefusal(other.counted.post(hello('acme/held')), 'api_key_rate_limit', /^The key may have 3 calls/);
    expect(other.takenMax()).toBe(3);
    await letGo(3, running);
    await Promise.all([counted.settled(), other.counted.settled()]);
    await expectAllFree();
  });

  it('of a workspace beyond its own take no slot of the service, not even for a moment', async () => {
    const { counted, takenMax } = await openCounted();
    const of = () => counted.post(hello('acme/held'), as('pair'));
    const running = [of(), of()];
    await isHeld(2);
    await expectRefusal(of(), 'rate_limited', /^The workspace pair may have 2 calls in flight/);
    expect(takenMax()).toBe(2);
    await letGo(2, running);
    await counted.settled();
    await expectAllFree();
  });

  it.each(['pair', 'spread'] as const)('of a workspace (%s) are refused beyond it, to the unit', async (name) => {
    const crowd = startCrowd(12, () => slow(as(name)));
    await crowd.areAllBut(2);
    await isHeld(2);
    await expectRefusal(
      slow(as(name)),
      'rate_limited',
      new RegExp(`^The workspace ${name} may have 2 calls in flight`),
    );
    await letGo(2, []);
    expect(await crowd.outcomes).toEqual({ ok: 2, rate_limited: 10 });
    await expectAllFree();
  });

  it('of the service refuse a function with its own code, and do not refuse token counts, like those of a key', async () => {
    const running = [...Array.from({ length: 3 }, () => slow()), slow(as('plain')), slow(as('plain'))];
    await isHeld(5);
    const refusal = harness.post(ask('held'), as('plain'));
    await expectRefusal(refusal, 'execution_capacity', /^The gateway may have 5 calls in flight at once/);
    const countAnswer = await harness.postTo('/messages/count_tokens', hello('acme/echo'));
    expect(countAnswer.status).toBe(200);
    await letGo(5, running);
    await expectAllFree();
  });

  it('of one never refuse a client that calls again when it has the last byte, from whichever instance', async () => {
    const second = await harness.open();
    const gateways = [harness, second];
    for (let call = 0; call < 24; call += 1) {
      const gateway = gateways[call % 2] ?? harness;
      const body = [hello('acme/echo'), { ...hello('acme/stream'), stream: true }, hello('acme/error-500')][call % 3];
      const answer = await gateway.post(body, as('single'));
      expect([200, 502]).toContain(answer.status);
      await answer.text();
    }
    await Promise.all(gateways.map(({ settled }) => settled()));
    await expectAllFree();
  });

  it('count no stored answer, and a refusal for money comes before one for a slot', async () => {
    const name = { ...as('single'), 'idempotency-key': crypto.randomUUID() };
    const first = await harness.post(hello('acme/echo'), name);
    const text = await first.text();
    const running = slow(as('single'));
    await isHeld(1);
    const replay = await harness.post(hello('acme/echo'), name);
    expect([replay.status, await replay.text()]).toEqual([200, text]);
    await letGo(1, [running]);
    const small = harness.post(hello('acme/held', { max_tokens: 8 }), as('poor'));
    await isHeld(1);
    await expectRefusal(slow(as('poor')), 'api_key_rate_limit', /^The key may have 1 call in flight/);
    const large = harness.post(hello('acme/echo', { n: 2 }), as('poor'));
    await expectError(await large, 402, 'PAYMENT_REQUIRED');
    await letGo(1, [small]);
    // A budget for the client's own provider key is checked like money; the request itself is checked first.
    const other = slow(as('byok'));
    await isHeld(1);
    await expectError(await harness.post(hello('mine/echo'), as('byok')), 402, 'byok_budget_exceeded');
    const capped = hello('mine/echo', { provider: { max_price: 0.000001 } });
    await expectError(await harness.post(capped, as('byok')), 402, 'price_cap_exceeded');
    await letGo(1, [other]);
    await expectAllFree();
  });

  it('are by default a tenth fewer than the stage can run at once, and half of that for one key', async () => {
    const staged = await harness.open({
      replace: ({ catalogue }) => ({
        stageConcurrency: 6,
        catalogue: {
          ...catalogue,
          known: () => undefined,
          current: async () => {
            const current = await catalogue.current();
            return { ...current, service: { ...current.service, concurrency: undefined } };
          },
        },
      }),
    });
    const of = (name: keyof typeof keys) => staged.post(hello('acme/held'), as(name));
    // The limits are five and two concurrent calls: shares of the stage, rounded down.
    const running = [of('plain'), of('plain')];
    await isHeld(2);
    await expectRefusal(of('plain'), 'api_key_rate_limit', /^The key may have 2 calls in flight/);
    running.push(of('crowd'), of('crowd'), of('crowd'));
    await isHeld(5);
    await expectRefusal(of('single'), 'rate_limited', /^The gateway may have 5 calls in flight/);
    await letGo(5, running);
    await staged.settled();
    await expectAllFree();
    // The alarm for a stage that is too small counts this refusal, and no refusal of a single key.
    const refusalLines = harness.logLines.map((line) => JSON.parse(line)).filter(({ status }) => status === 429);
    expect(refusalLines.slice(-2).map(({ outcome, exhausted }) => [outcome, exhausted])).toEqual([
      ['api_key_rate_limit', undefined],
      ['rate_limited', 'service_concurrency'],
    ]);
  });

  /** Opens a gateway whose service limits calls. Its waits of 50 ms never end by themselves. */
  async function openBusy(joinsWrites: boolean) {
    const writes: string[] = [];
    const gathering = new Set<() => void>();
    const busy = await harness.open({
      joinsWrites,
      clock: {
        nowMs: systemClock.nowMs,
        after(delayMs, callback) {
          if (delayMs !== 50) return systemClock.after(delayMs, callback);
          gathering.add(callback);
          return () => gathering.delete(callback);
        },
      },
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          if (/update|batchPut/.test(call.method)) writes.push(call.table);
          return run();
        }),
      replace: ({ catalogue }) => ({
        catalogue: {
          ...catalogue,
          known: () => undefined,
          current: async () => {
            const current = await catalogue.current();
            return { ...current, service: { ...current.service, concurrency: 500 } };
          },
        },
      }),
    });
    return { busy, writes, gathering };
  }

  it('of a process that serves many are settled with what its next calls write, and an answer ends before', async () => {
    const { busy, writes, gathering } = await openBusy(false);
    const running = Array.from({ length: 20 }, () => busy.post(hello('acme/held'), as('plain')));
    await isHeld(20);
    writes.length = 0;
    waiting.shift()?.();
    await (await Promise.race(running)).text();
    await nextTurn();
    expect(writes).toEqual([]);
    const next = busy.post(hello('acme/held'), as('plain'));
    await isHeld(20);
    // The next call takes slots of workspace and service; the other call's release shares these writes. The key's
    // spending is one more write, for all calls of a second.
    expect(writes.toSorted()).toEqual(['keys', 'ledger', 'ledger']);
    await letGo(20, [...running, next]);
    let isSettled = false;
    void busy.settled().then(() => {
      isSettled = true;
    });
    await eventually(() => {
      for (const callback of gathering) callback();
      return isSettled;
    });
    await expectAllFree();
  });

  it('of a process that serves many wait for no others on a store that joins what a turn writes', async () => {
    const { busy, writes, gathering } = await openBusy(true);
    const running = Array.from({ length: 20 }, () => busy.post(hello('acme/held'), as('plain')));
    await isHeld(20);
    writes.length = 0;
    waiting.shift()?.();
    await (await Promise.race(running)).text();
    await eventually(() => writes.includes('records'));
    expect([...new Set(writes)].toSorted()).toEqual(['keys', 'ledger', 'records']);
    expect(gathering.size).toBe(0);
    await letGo(20, running);
    await busy.settled();
    await expectAllFree();
  });

  it('need no write more than a call makes anyway, but for those of the service', async () => {
    const calls: StoreCall[] = [];
    const watchedGateway = await harness.open({
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          calls.push(call);
          return run();
        }),
    });
    await (await watchedGateway.post(hello('acme/echo'))).text();
    await watchedGateway.settled();
    calls.length = 0;
    await (await watchedGateway.post(hello('acme/echo'))).text();
    await watchedGateway.settled();
    const writes = calls.filter(({ method }) => method === 'update').map(({ table }) => table);
    expect(writes.filter((table) => table === 'keys').length).toBe(2);
    // The ledger is written for the credit and for the slot of the service.
    expect(writes.filter((table) => table === 'ledger').length).toBe(4);
  });
});
