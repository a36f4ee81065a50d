// Concurrency of functions, of a workspace and of the service: never more at once than allowed, never fewer
// than could be, and every slot comes back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, type ServedGateway, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { countOutcomes } from '../support/outcomes.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore, type StoreCall } from '../support/wrapped-store.ts';

const functions = [
  prompt('held', { model: 'acme/held' }),
  prompt('quick'),
  prompt('failing', { model: 'acme/error-500' }),
];

describe('the concurrency of functions', () => {
  let harness: Harness;
  let held: ScriptedProvider;
  const waiting: (() => void)[] = [];
  const keys = { single: newKey(), other: newKey() };

  beforeAll(async () => {
    held = await startScriptedProvider((outgoing) => {
      waiting.push(() => sendJson(outgoing, completionOf({ content: 'done' })));
    });
    harness = await startHarness({
      models: { ...modelsFor(['echo', 'error-500']), 'acme/held': [{ provider: 'held', upstream: 'held' }] },
      providers: { held: { base_url: held.url } },
      service: { function_concurrency: 3 },
      workspace: { functions, function_concurrency: 2 },
      moreWorkspaces: [
        { id: 'single', credit_usd: '10', function_concurrency: 1, functions, keys: [{ name: 's', key: keys.single }] },
        {
          id: 'other',
          credit_usd: '10',
          function_concurrency: null,
          functions,
          keys: [{ name: 'o', key: keys.other }],
        },
      ],
    });
  });
  afterAll(async () => {
    await harness.stop();
    await held.stop();
  });
  beforeEach(() => harness.simulator.clear());

  const as = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name]}` });
  const isHeld = (count: number) => eventually(() => waiting.length === count);
  const letGo = (count: number) => {
    for (const answer of waiting.splice(0, count)) answer();
  };
  /** So many of them: only then may the call that runs end, or a late one would run after it. */
  async function answered(all: readonly Promise<Response>[], count: number): Promise<void> {
    let done = 0;
    for (const one of all) void one.then(() => (done += 1));
    await eventually(() => done === count);
  }
  const slotsOf = async (key: string) => Number((await harness.testStore.store.get('ledger', key))?.balance_slots ?? 0);
  async function expectAllSlotsFree(): Promise<void> {
    await harness.settled();
    for (const key of ['SLOTS', 'SLOTS#team', 'SLOTS#single']) expect([key, await slotsOf(key)]).toEqual([key, 0]);
  }

  it('refuses one more than the workspace allows, costs it nothing, and lets the next one in at once', async () => {
    const running = [harness.post(ask('held')), harness.post(ask('held'))];
    await isHeld(2);
    const refused = await harness.post(ask('held'));
    await expectError(refused, 429, 'execution_capacity');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('x-should-retry')).toBeNull();
    // Plain calls are no functions.
    expect((await harness.post({ model: 'acme/echo', messages: [{ role: 'user', content: 'x' }] })).status).toBe(200);
    letGo(1);
    await Promise.race(running);
    const next = harness.post(ask('held'));
    await isHeld(2);
    letGo(2);
    for (const one of [...running, next]) await answerOf(await one);
    await expectAllSlotsFree();
    await expectBalancedBooks(harness);
  });

  it('refuses one more than the service allows, whichever workspaces run the others', async () => {
    const running = [
      harness.post(ask('held')),
      harness.post(ask('held'), as('single')),
      harness.post(ask('held'), as('other')),
    ];
    await isHeld(3);
    for (const headers of [as('other'), {}]) {
      await expectError(await harness.post(ask('quick'), headers), 429, 'execution_capacity');
    }
    letGo(3);
    await Promise.all(running);
    await expectAllSlotsFree();
  });

  it('of one lets exactly one of many simultaneous calls run, again and again', async () => {
    for (let round = 0; round < 5; round += 1) {
      const all = Array.from({ length: 6 }, () => harness.post(ask('held'), as('single')));
      const outcomes = countOutcomes(all);
      await answered(all, 5);
      await isHeld(1);
      letGo(1);
      expect(await outcomes).toEqual({ ok: 1, execution_capacity: 5 });
    }
    await expectAllSlotsFree();
  });

  it('of one never refuses a client that calls again once it has its answer, good or bad', async () => {
    for (let calls = 0; calls < 5; calls += 1) {
      await answerOf(await harness.post(ask('quick'), as('single')));
      await expectError(await harness.post(ask('failing'), as('single')), 502, 'execution_failed');
    }
    await expectAllSlotsFree();
  });

  it('is not touched, nor is any credit, by retries that do not run', async () => {
    const calls: StoreCall[] = [];
    const watched = await harness.open({
      wrapStore: (store) =>
        aroundStore(store, (call, run) => {
          calls.push(call);
          return run();
        }),
    });
    const key = { 'idempotency-key': crypto.randomUUID() };
    const first = watched.post(ask('held'), key);
    await isHeld(1);
    calls.length = 0;
    await expectError(await watched.post(ask('held'), key), 409, 'execution_in_progress');
    letGo(1);
    const { text } = await answerOf(await first);
    await watched.settled();
    calls.length = 0;
    expect(await (await watched.post(ask('held'), key)).text()).toBe(text);
    await watched.settled();
    expect(calls.filter(({ table }) => table === 'ledger')).toEqual([]);
    expect(calls.map(({ table }) => table)).toContain('idempotency');
  });

  it('counts a call that its client has left until it has ended, and no longer', async () => {
    const client = new AbortController();
    const left = harness.post(ask('held'), as('single'), client.signal);
    left.catch(() => {});
    await isHeld(1);
    client.abort();
    letGo(1);
    await harness.settled();
    waiting.length = 0;
    await answerOf(await harness.post(ask('quick'), as('single')));
    await expectAllSlotsFree();
  });
});

describe('a slot of an instance that died', () => {
  it('comes back with its lease, not before, and only once although the instance comes back too', async () => {
    const frozen = manualClock();
    const ahead = manualClock(frozen.nowMs());
    const waiting: (() => void)[] = [];
    const provider = await startScriptedProvider((outgoing) => {
      waiting.push(() => sendJson(outgoing, completionOf({ content: 'done' })));
    });
    const harness = await startHarness({
      clock: frozen,
      models: { ...modelsFor(['echo']), 'acme/held': [{ provider: 'held', upstream: 'held' }] },
      providers: { held: { base_url: provider.url } },
      service: { function_concurrency: 1 },
      workspace: { functions: [prompt('held', { model: 'acme/held' }), prompt('quick')], function_concurrency: 1 },
    });
    try {
      // As far as others can see it has died: it is in the middle of a call, and its time does not pass.
      const lost = harness.post(ask('held'));
      await eventually(() => waiting.length === 1);
      const alive: ServedGateway = await harness.open({ clock: ahead });
      ahead.advance(holdLifeMs - 1);
      await expectError(await alive.post(ask('quick')), 429, 'execution_capacity');
      ahead.advance(1);
      await answerOf(await alive.post(ask('quick')));
      waiting[0]?.();
      await answerOf(await lost);
      await Promise.all([harness.settled(), alive.settled()]);
      for (const key of ['SLOTS', 'SLOTS#team']) {
        expect(Number((await harness.testStore.store.get('ledger', key))?.balance_slots)).toBe(0);
      }
      await expectBalancedBooks(harness);
      await answerOf(await alive.post(ask('quick')));
    } finally {
      await harness.stop();
      await provider.stop();
    }
  });
});
