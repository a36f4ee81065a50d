// Concurrent and repeated calls of functions: never more at once than workspace and service allow, and one execution
// for each Idempotency-Key.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { configFreshMs } from '../../shared/foundation/constants/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt, step, workflow } from '../support/function-calls.ts';
import { newKey } from '../support/gateway-file.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { manualClock } from '../support/manual-clock.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const functions = [
  prompt('held', { model: 'acme/held' }),
  prompt('quick'),
  prompt('failing', { model: 'acme/error-500' }),
  prompt('echo', { model: 'acme/usage:1000:500' }),
  workflow('flow', [step('a', '{{input.x}}', { model: 'acme/usage:1000:500' })], 'said {{steps.a.output}}'),
];
const freshKey = () => ({ 'idempotency-key': crypto.randomUUID() });

describe('functions', () => {
  const clock = manualClock();
  let harness: Harness;
  let holdingProvider: ScriptedProvider;
  const waiting: (() => void)[] = [];
  const keys = { single: newKey(), other: newKey() };

  beforeAll(async () => {
    holdingProvider = await startScriptedProvider((outgoing) => {
      waiting.push(() => sendJson(outgoing, completionOf({ content: 'done' })));
    });
    harness = await startHarness({
      clock,
      models: {
        ...modelsFor(['echo', 'error-500', 'usage:1000:500']),
        'acme/held': [{ provider: 'held', upstream: 'held' }],
      },
      providers: { held: { base_url: holdingProvider.url } },
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
    await holdingProvider.stop();
  });
  beforeEach(() => harness.simulator.clear());

  const as = (name: keyof typeof keys) => ({ authorization: `Bearer ${keys[name]}` });
  const isHeld = (count: number) => eventually(() => waiting.length === count);
  const letGo = (count: number) => {
    for (const answer of waiting.splice(0, count)) answer();
  };
  const slotsOf = async (key: string) => Number((await harness.testStore.store.get('ledger', key))?.balance_slots ?? 0);
  async function expectAllSlotsFree(): Promise<void> {
    await harness.settled();
    for (const key of ['SLOTS', 'SLOTS#team', 'SLOTS#single']) expect([key, await slotsOf(key)]).toEqual([key, 0]);
  }

  it('refuses one more than the workspace allows, costs it nothing, and lets the next one in at once', async () => {
    const running = [harness.post(ask('held')), harness.post(ask('held'))];
    await isHeld(2);
    const refusal = await harness.post(ask('held'));
    await expectError(refusal, 429, 'execution_capacity');
    expect(refusal.headers.get('retry-after')).toBe('1');
    expect(refusal.headers.get('x-should-retry')).toBeNull();
    // The limit is for functions: a plain call passes.
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

  it('counts a call that its client has left until it has ended, and no longer', async () => {
    const client = new AbortController();
    const call = harness.post(ask('held'), as('single'), client.signal);
    call.catch(() => {});
    await isHeld(1);
    client.abort();
    letGo(1);
    await harness.settled();
    waiting.length = 0;
    await answerOf(await harness.post(ask('quick'), as('single')));
    await expectAllSlotsFree();
  });

  describe('under an Idempotency-Key', () => {
    async function expectBooks(): Promise<bigint> {
      await harness.settled();
      return expectBalancedBooks(harness);
    }

    it('is the same in either letter case', async () => {
      const key = crypto.randomUUID();
      const first = await answerOf(await harness.post(ask('echo'), { 'idempotency-key': key.toUpperCase() }));
      const again = await answerOf(await harness.post(ask('echo'), { 'idempotency-key': key }));
      expect(again.text).toBe(first.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(harness.simulator.calls).toHaveLength(1);
    });

    it.each([
      ['a prompt', 'echo', 'Hello'],
      ['a workflow', 'flow', { x: 'X' }],
    ])(
      'replays %s with its execution id, model and headers, from any instance, free of charge',
      async (_name, id, input) => {
        const key = freshKey();
        const first = await answerOf(await harness.post(ask(id, input), key));
        expect(first.headers.get('idempotent-replayed')).toBeNull();
        const spent = await expectBooks();
        const elsewhere = await harness.open();
        const replay = await elsewhere.post(ask(id, input), key);
        const again = await answerOf(replay);
        expect(again.text).toBe(first.text);
        expect(again.gw.execution_id).toBe(first.gw.execution_id);
        expect(again.headers.get('idempotent-replayed')).toBe('true');
        for (const name of ['content-type', 'x-gw-model', 'x-gw-provider']) {
          expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
        }
        expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
        await elsewhere.settled();
        expect(await expectBooks()).toBe(spent);
        expect(harness.simulator.calls).toHaveLength(1);
      },
    );

    it('replays although the function is disabled since', async () => {
      const key = freshKey();
      const first = await answerOf(await harness.post(ask('flow', { x: 'Y' }), key));
      await harness.composition.functionStore.disable('team', 'flow');
      clock.advance(configFreshMs);
      await expectError(await harness.post(ask('flow', { x: 'Y' }), freshKey()), 409, 'function_disabled');
      expect((await answerOf(await harness.post(ask('flow', { x: 'Y' }), key))).text).toBe(first.text);
      await harness.composition.functionStore.enable('team', 'flow');
      clock.advance(configFreshMs);
    });

    it('is free before the client hears of the failure, however slow the store is', async () => {
      const slow = await harness.open({
        wrapStore: (store) =>
          aroundStore(store, async (call, run) => {
            // If the release began only after the answer, it would come long after the next call.
            if (call.table === 'idempotency' && call.method === 'update') {
              for (let turns = 0; turns < 200; turns += 1) await nextTurn();
            }
            return run();
          }),
      });
      for (let calls = 0; calls < 3; calls += 1) {
        const key = freshKey();
        await expectError(await slow.post(ask('failing'), key), 502, 'execution_failed');
        await expectError(await slow.post(ask('failing', 'Else', { stop: 'x' }), key), 400, 'invalid_function_request');
        await expectError(await slow.post(ask('nobody'), key), 404, 'function_not_found');
        await expectError(await slow.post(ask('failing', 'Something else'), key), 502, 'execution_failed');
      }
      await slow.settled();
    });
  });
});
