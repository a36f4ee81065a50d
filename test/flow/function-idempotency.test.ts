// One Idempotency-Key, one execution: identical calls at once, replays, failures, and an instance
// that dies in the middle of a call.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { configFreshMs, holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { expectBalancedBooks } from '../support/balanced-books.ts';
import { expectError } from '../support/expect-error.ts';
import { answerOf, ask, modelsFor, prompt, step, workflow } from '../support/function-calls.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { countOutcomes } from '../support/outcomes.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';
import { eventually } from '../support/watched-clock.ts';
import { aroundStore } from '../support/wrapped-store.ts';

const functions = [
  prompt('held', { model: 'acme/held' }),
  prompt('echo', { model: 'acme/usage:1000:500' }),
  prompt('failing', { model: 'acme/error-500' }),
  prompt('flaky', { model: 'acme/flaky:1' }),
  workflow('flow', [step('a', '{{input.x}}', { model: 'acme/usage:1000:500' })], 'said {{steps.a.output}}'),
];
const newKey = () => ({ 'idempotency-key': crypto.randomUUID() });

describe('an Idempotency-Key of a function call', () => {
  let clock: ManualClock;
  let harness: Harness;
  let held: ScriptedProvider;
  const waiting: (() => void)[] = [];

  beforeAll(async () => {
    clock = manualClock();
    held = await startScriptedProvider((outgoing, call) => {
      waiting.push(() => sendJson(outgoing, completionOf({ content: `answer ${call}` })));
    });
    harness = await startHarness({
      clock,
      models: {
        ...modelsFor(['usage:1000:500', 'error-500', 'flaky:1']),
        'acme/held': [{ provider: 'held', upstream: 'held' }],
      },
      providers: { held: { base_url: held.url } },
      workspace: { functions, credit_usd: '1' },
    });
  });
  afterAll(async () => {
    await harness.stop();
    await held.stop();
  });
  beforeEach(() => {
    harness.simulator.clear();
    waiting.length = 0;
  });

  const isHeld = (count: number) => eventually(() => waiting.length === count);
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

  it('of twenty identical calls runs one, charges one, and answers every later one with the same bytes', async () => {
    const before = await expectBooks();
    const key = newKey();
    const all = Array.from({ length: 20 }, () => harness.post(ask('held'), key));
    const outcomes = countOutcomes(all.map(async (answer) => (await answer).clone()));
    let refused = 0;
    for (const answer of all) void answer.then(({ status }) => (refused += status === 409 ? 1 : 0));
    await eventually(() => refused === 19);
    await isHeld(1);
    waiting[0]?.();
    expect(await outcomes).toEqual({ ok: 1, execution_in_progress: 19 });
    const winner = (await Promise.all(all)).find(({ status }) => status === 200);
    if (winner === undefined) throw new Error('no call won');
    const first = await answerOf(winner);
    for (let replays = 0; replays < 3; replays += 1) {
      const replay = await answerOf(await harness.post(ask('held'), key));
      expect(replay.text).toBe(first.text);
      expect(replay.headers.get('idempotent-replayed')).toBe('true');
    }
    expect(waiting).toHaveLength(1);
    // Ten tokens at 1.00 and five at 2.00 per million, once.
    expect((await expectBooks()) - before).toBe(20_000_000n);
  });

  it.each([
    ['a prompt', 'echo', 'Hello'],
    ['a workflow', 'flow', { x: 'X' }],
  ])(
    'replays %s with its execution id, model and headers, from any instance, free of charge',
    async (_name, id, input) => {
      const key = newKey();
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
    const key = newKey();
    const first = await answerOf(await harness.post(ask('flow', { x: 'Y' }), key));
    await harness.composition.functionStore.disable('team', 'flow');
    clock.advance(configFreshMs);
    await expectError(await harness.post(ask('flow', { x: 'Y' }), newKey()), 409, 'function_disabled');
    expect((await answerOf(await harness.post(ask('flow', { x: 'Y' }), key))).text).toBe(first.text);
    await harness.composition.functionStore.enable('team', 'flow');
    clock.advance(configFreshMs);
  });

  it('is free before the client hears of the failure, however slow the store is', async () => {
    const slow = await harness.open({
      wrapStore: (store) =>
        aroundStore(store, async (call, run) => {
          // A release that is only begun when the answer is out would come after the next call by far.
          if (call.table === 'idempotency' && call.method === 'update') {
            for (let turns = 0; turns < 200; turns += 1) await nextTurn();
          }
          return run();
        }),
    });
    for (let calls = 0; calls < 3; calls += 1) {
      const key = newKey();
      await expectError(await slow.post(ask('failing'), key), 502, 'execution_failed');
      await expectError(await slow.post(ask('failing', 'Else', { stop: 'x' }), key), 400, 'invalid_function_request');
      await expectError(await slow.post(ask('nobody'), key), 404, 'function_not_found');
      await expectError(await slow.post(ask('failing', 'Something else'), key), 502, 'execution_failed');
    }
    await slow.settled();
  });

  it('of an instance that died is taken over once its lease is over, by exactly one of several', async () => {
    const before = await expectBooks();
    const ahead = manualClock(clock.nowMs());
    const [one, two] = [await harness.open({ clock: ahead }), await harness.open({ clock: ahead })];
    const key = newKey();
    // As far as others can see: it is in the middle of a call, and its time does not pass.
    const lost = harness.post(ask('held', 'taken over'), key);
    await isHeld(1);
    ahead.advance(holdLifeMs - 1);
    await expectError(await one.post(ask('held', 'taken over'), key), 409, 'execution_in_progress');
    ahead.advance(1);
    const retries = Array.from({ length: 8 }, (_none, index) =>
      (index % 2 === 0 ? one : two).post(ask('held', 'taken over'), key),
    );
    let refused = 0;
    for (const answer of retries) void answer.then(({ status }) => (refused += status === 409 ? 1 : 0));
    await eventually(() => refused === 7);
    await isHeld(2);
    // The late owner comes back first. What it would store is refused: the key is another call's.
    waiting[0]?.();
    const late = await answerOf(await lost);
    waiting[1]?.();
    const outcomes = await Promise.all(retries);
    const winner = outcomes.find(({ status }) => status === 200);
    if (winner === undefined) throw new Error('no retry took over');
    const taken = await answerOf(winner);
    expect(taken.gw.execution_id).not.toBe(late.gw.execution_id);
    const replay = await answerOf(await two.post(ask('held', 'taken over'), key));
    expect(replay.text).toBe(taken.text);
    expect(waiting).toHaveLength(2);
    await Promise.all([one.settled(), two.settled()]);
    // Both providers' calls were made, so both are paid, each once.
    expect((await expectBooks()) - before).toBe(40_000_000n);
  });
});
