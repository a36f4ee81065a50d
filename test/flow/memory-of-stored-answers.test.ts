// Requests and answers of a process share one memory budget, even when an answer is stored already.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { createMemoryBudget, type MemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { fullOfAnswers } from '../support/full-memory.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { completionOf, type ScriptedProvider, sendJson, startScriptedProvider } from '../support/scripted-provider.ts';

const mib = 1024 * 1024;
const maxBytes = 24 * mib;
const large = completionOf({ content: 'word of it, '.repeat(mib / 12) });

let provider: ScriptedProvider;
let clock: ManualClock;
let budget: MemoryBudget;
let harness: Harness;
beforeAll(async () => {
  clock = manualClock();
  budget = createMemoryBudget(clock, { maxBytes });
  provider = await startScriptedProvider((outgoing, call) =>
    sendJson(outgoing, provider.bodies[call]?.includes('"large"') ? large : completionOf({ content: 'Yes.' })),
  );
  harness = await startHarness({
    clock,
    models: {
      'acme/large': [{ provider: 'acme', upstream: 'large' }],
      'acme/small': [{ provider: 'acme', upstream: 'small' }],
    },
    providers: { acme: { base_url: provider.url } },
    replace: () => ({ memory: budget }),
  });
});
afterAll(async () => {
  await harness.stop();
  await provider.stop();
});
afterEach(async () => {
  await harness.settled();
  expect(budget.bytesInUse()).toBe(0);
});

const cached = hello('acme/large', { cache: { ttl: 3_600 } });
const headers = { 'idempotency-key': 'the-same' };
const kinds = [
  { name: 'a cached answer', ask: () => harness.post(cached) },
  { name: 'a stored answer of an Idempotency-Key', ask: () => harness.post(hello('acme/large'), headers) },
];

/** Runs `use` while answers of other calls fill the budget. */
async function full<Value>(use: () => Promise<Value>): Promise<Value> {
  const other = await fullOfAnswers(budget, maxBytes, () => clock.advance(1_000));
  try {
    return await use();
  } finally {
    other.end();
  }
}

describe.each(kinds)('$name', ({ ask }) => {
  beforeAll(async () => {
    expect((await (await ask()).text()).length).toBeGreaterThan(mib);
    await harness.settled();
  });

  it('that finds no memory waits for it', async () => {
    const { calls, answer } = await full(async () => {
      const before = provider.bodies.length;
      const waiting = ask();
      // A small answer is served meanwhile.
      expect((await harness.post(hello('acme/small'))).status).toBe(200);
      return { calls: before + 1, answer: waiting };
    });
    expect((await (await answer).text()).length).toBeGreaterThan(mib);
    expect(provider.bodies.length).toBe(calls);
  });

  it('is refused if none comes in time: no provider is called, and nothing is charged', async () => {
    const [callsBefore, credit] = [provider.bodies.length, await harness.credit()];
    const refusal = await full(async () => {
      const answer = ask();
      const ended = answer.then(() => true);
      while (!(await Promise.race([ended, harness.get('/models').then(() => false)]))) clock.advance(500);
      return answer;
    });
    expect(refusal.status).toBe(503);
    expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refusal.json()).toMatchObject({ error: 'RATE_LIMITER_UNAVAILABLE' });
    await harness.settled();
    expect(provider.bodies.length).toBe(callsBefore);
    expect((await harness.credit()).spent).toEqual(credit.spent);
    // The stored answer is still there.
    expect((await ask()).status).toBe(200);
  });
});
