// A key without limits takes a slot of its own only when a quarter of the stage is in use. Until then it writes nothing
// to its item; it may use half of the stage at most, even if no other key calls.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { systemClock } from '../../shared/foundation/time/index.ts';
import { expectError } from '../support/expect-error.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

/** The service has 20 of these slots and one key may use 10; up to 5 calls need no slot of a key. */
const stageConcurrency = 23;

describe('a key without limits on a stage', () => {
  let harness: Harness;
  let holdingProvider: ScriptedProvider;
  const calls: StoreCall[] = [];
  const waiting: (() => void)[] = [];
  const keys = { open: newKey(), other: newKey(), third: newKey(), single: newKey() };

  beforeAll(async () => {
    holdingProvider = await startScriptedProvider((outgoing) => {
      waiting.push(() => sendJson(outgoing, completionOf({ content: 'done' })));
    });
    harness = await startHarness({
      clock,
      models: {
        'acme/echo': [{ provider: 'acme', upstream: 'echo' }],
        'acme/held': [{ provider: 'held', upstream: 'held' }],
      },
      providers: { held: { base_url: holdingProvider.url } },
      moreWorkspaces: [
        {
          id: 'open',
          credit_usd: '10',
          keys: [
            ...(['open', 'other', 'third'] as const).map((name) => ({ name, key: keys[name] })),
            { name: 'single', key: keys.single, concurrency: 1 },
          ],
        },
      ],
      replace: () => ({ stageConcurrency }),
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          calls.push(call);
          return run();
        }),
    });
  });
  afterAll(async () => {
    await harness.stop();
    await holdingProvider.stop();
  });
  /** Advances the clock past the refusals that a process remembers. */
  beforeEach(() => {
    nowMs += 20_000;
  });
  afterEach(async () => {
    await endAll();
    await harness.settled();
    for (const table of ['ledger', 'keys'] as const) {
      for await (const item of harness.testStore.store.scan(table)) {
        expect([item.pk, Number(item.balance_slots ?? 0)]).toEqual([item.pk, 0]);
      }
    }
  });

  const running: Promise<Response>[] = [];
  let nowMs = systemClock.nowMs();
  const clock = { ...systemClock, nowMs: () => nowMs };
  const as = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name]}` });
  /** Starts the calls one after the other, so that it is certain which call is refused. */
  async function hold(name: keyof typeof keys, count: number, gateway: Pick<Harness, 'post'> = harness) {
    for (let n = 0; n < count; n += 1) {
      const before = waiting.length;
      running.push(gateway.post(hello('acme/held'), as(name)));
      await eventually(() => waiting.length === before + 1);
    }
  }
  async function endAll(): Promise<void> {
    for (const answer of waiting.splice(0)) answer();
    for (const one of running.splice(0)) await (await one).text();
  }
  async function endOldest(): Promise<void> {
    waiting.shift()?.();
    await (await running.shift())?.text();
  }
  const refusal = async (name: keyof typeof keys, code: string) => {
    const answer = await harness.post(hello('acme/held'), as(name));
    expect(answer.headers.get('retry-after')).toBe('1');
    return (await expectError(answer, 429, code)).message;
  };
  const keyWrites = () => calls.filter(({ method, table }) => method === 'update' && table === 'keys').length;

  it('reserves nothing on its key while a quarter of the slots is free, and what has a limit of its own does', async () => {
    calls.length = 0;
    await hold('open', 3);
    await hold('other', 2);
    expect(keyWrites()).toBe(0);
    await endAll();
    await harness.settled();
    // The key's spending is a write a call; in a process that lives on, calls of a second share one write.
    expect(keyWrites()).toBe(5);
    expect(calls.filter(({ method, table }) => method === 'get' && table === 'keys').length).toBeGreaterThanOrEqual(5);
    calls.length = 0;
    await (await harness.post(hello('acme/echo'), as('single'))).text();
    await harness.settled();
    expect(keyWrites()).toBe(2);
  });

  it('has half of the service if it is alone, to the unit, from two instances', async () => {
    const second = await harness.open({ clock, replace: () => ({ stageConcurrency }) });
    await hold('open', 4);
    await hold('open', 6, second);
    expect(await refusal('open', 'api_key_rate_limit')).toBe(
      'The key may have 10 calls in flight at once, its concurrency, 5 of them in slots that all keys share, and none is free; try again in 1 s.',
    );
    expect((await harness.keyItem(keys.open)).balance_slots).toBe(-5);
    expect(waiting.length).toBe(10);
    // Other keys are served meanwhile.
    expect((await harness.post(hello('acme/echo'), as('other'))).status).toBe(200);
    await endAll();
    await second.settled();
  });

  it('is never refused if as many clients as it may have calls wait for each answer before they call again', async () => {
    await hold('open', 10);
    for (let n = 0; n < 15; n += 1) {
      await endOldest();
      await hold('open', 1);
    }
    expect(waiting.length).toBe(10);
  });

  it('is held to a quarter beside others who have what needs no slot of a key, and no sum of keys passes the service', async () => {
    await hold('open', 10);
    await hold('other', 5);
    expect(await refusal('other', 'api_key_rate_limit')).toMatch(/^The key may have 10 calls in flight at once/);
    await hold('single', 1);
    expect(await refusal('single', 'api_key_rate_limit')).toMatch(/^The key may have 1 call in flight at once/);
    await hold('third', 4);
    expect(await refusal('third', 'rate_limited')).toMatch(/^The gateway may have 20 calls in flight at once/);
    expect(waiting.length).toBe(20);
  });

  it('that is over its limit asks for slots of others once a second, and has them as soon as they are free', async () => {
    await hold('open', 10);
    await refusal('open', 'api_key_rate_limit');
    calls.length = 0;
    for (const _again of [1, 2, 3]) await refusal('open', 'api_key_rate_limit');
    expect(calls.filter(({ key }) => key.startsWith('SERVICECALLS'))).toEqual([]);
    nowMs += 1_000;
    await refusal('open', 'api_key_rate_limit');
    expect(calls.filter(({ key }) => key.startsWith('SERVICECALLS')).length).toBe(1);
    await endAll();
    nowMs += 1_000;
    await hold('open', 10);
  });
});
