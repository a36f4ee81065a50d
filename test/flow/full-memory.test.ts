// Events that wait for a guardrail, and bodies for the content log, use the memory of requests and answers. When it is
// full, the call goes on without them or is refused, and memory does not grow.
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '#jest';
import { nextTurn } from '../../shared/foundation/time/index.ts';
import { createMemoryBudget, type MemoryBudget } from '../../shared/protocol/memory-budget/index.ts';
import { type BlobStore, memoryBlobs } from '../../shared/storage/blobs/index.ts';
import { expectError } from '../support/expect-error.ts';
import { fullOfAnswers } from '../support/full-memory.ts';
import { type Harness, hello, startHarness } from '../support/harness.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { type OperatorRequests, operatorOf } from '../support/operator-requests.ts';
import { type ScriptedGuardrail, startScriptedGuardrail } from '../support/scripted-guardrail.ts';
import {
  chunkEvent,
  completionOf,
  type ScriptedProvider,
  sendJson,
  startScriptedProvider,
} from '../support/scripted-provider.ts';

const mib = 1024 * 1024;

interface Watched {
  readonly budget: MemoryBudget;
  /** Returns the most bytes in use so far. */
  readonly peakBytes: () => number;
}

function watchedBudget(clock: ManualClock, maxBytes?: number): Watched {
  const budget = createMemoryBudget(clock, { maxBytes });
  let peakBytes = 0;
  return {
    peakBytes: () => peakBytes,
    budget: {
      ...budget,
      open() {
        const memory = budget.open();
        const openAnswer = memory.openAnswer.bind(memory);
        memory.openAnswer = () => {
          const allocation = openAnswer();
          return {
            ...allocation,
            take(bytes, take) {
              const waits = allocation.take(bytes, take);
              peakBytes = Math.max(peakBytes, budget.bytesInUse());
              return waits;
            },
          };
        };
        return memory;
      },
    },
  };
}

/** Lets the clock pass in steps of half a second until the work has ended. */
async function whileTimePasses<Value>(clock: ManualClock, harness: Harness, work: Promise<Value>): Promise<Value> {
  const ended = work.then(() => true);
  while (!(await Promise.race([ended, harness.get('/models').then(() => false)]))) clock.advance(500);
  return work;
}

describe('events that wait for a guardrail', () => {
  const maxBytes = 6 * mib;
  const clock = manualClock();
  const { budget, peakBytes } = watchedBudget(clock, maxBytes);
  let answer: (outgoing: ServerResponse) => void;
  let provider: ScriptedProvider;
  let guardrail: ScriptedGuardrail;
  let harness: Harness;
  let other: Awaited<ReturnType<typeof fullOfAnswers>> | undefined;
  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      outgoing.writeHead(200, {
        'content-type': provider.bodies.at(-1)?.includes('"stream":true') ? 'text/event-stream' : 'application/json',
      });
      answer(outgoing);
    });
    guardrail = await startScriptedGuardrail();
    guardrail.answer(() => ({ action: 'pass' }));
    harness = await startHarness({
      clock,
      models: {
        'acme/m': [
          { provider: 'acme', upstream: 'm' },
          { provider: 'globex', upstream: 'echo' },
        ],
      },
      providers: { acme: { base_url: provider.url } },
      guardrails: [{ id: 'words', kind: 'http', url: guardrail.url, on: ['output'], window_characters: 100_000 }],
      workspace: { guardrails: ['words'] },
      replace: () => ({ memory: budget }),
    });
  });
  afterAll(async () => {
    await harness.stop();
    await provider.stop();
    await guardrail.stop();
  });
  afterEach(async () => {
    other?.end();
    await harness.settled();
    expect([budget.bytesInUse(), harness.simulator.calls.length]).toEqual([0, 0]);
    expect(peakBytes()).toBeLessThanOrEqual(maxBytes);
  });

  const ask = () => harness.post(hello('acme/m', { stream: true }));
  const piece = (content: string) => chunkEvent({ content });
  const end = `${chunkEvent({}, 'stop')}data: [DONE]\n\n`;
  const full = () => fullOfAnswers(budget, maxBytes, () => clock.advance(1_000));

  it('leave as one window', async () => {
    answer = (outgoing) => outgoing.end(piece('a'.repeat(20_000)).repeat(5) + end);
    expect((await (await ask()).text()).match(/a{20000}/g)).toHaveLength(5);
  });

  it('wait for memory if there is none, and then leave', async () => {
    other = await full();
    const arrival = Promise.withResolvers<void>();
    answer = (outgoing) => {
      outgoing.end(piece('a'.repeat(20_000)).repeat(5) + end);
      arrival.resolve();
    };
    const questions = guardrail.questions.length;
    const response = ask();
    await arrival.promise;
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(guardrail.questions).toHaveLength(questions);
    other.end();
    expect((await (await response).text()).match(/a{20000}/g)).toHaveLength(5);
  });

  it('that find none while their call may wait end in an error; the provider is paid and no other provider is called', async () => {
    other = await full();
    const { spent } = await harness.credit();
    answer = (outgoing) => outgoing.end(piece('a'.repeat(20_000)).repeat(5) + end);
    const text = await whileTimePasses(
      clock,
      harness,
      ask().then((response) => response.text()),
    );
    expect(text).not.toContain('aaa');
    expect(text).toMatch(/RATE_LIMITER_UNAVAILABLE|request_deadline_exceeded|no_available_provider/);
    await harness.settled();
    expect((await harness.credit()).spent).toBeGreaterThan(spent);
  });

  it('are texts of a JSON answer too, which waits for them as long as its call may', async () => {
    const { spent } = await harness.credit();
    answer = (outgoing) => outgoing.end(completionOf({ content: 'd'.repeat(200_000) }));
    other = await full();
    const response = await whileTimePasses(clock, harness, harness.post(hello('acme/m')));
    await expectError(response, 503, 'RATE_LIMITER_UNAVAILABLE');
    await harness.settled();
    expect((await harness.credit()).spent).toBeGreaterThan(spent);
  });
});

describe('a guarded stream that is alone in its process', () => {
  const clock = manualClock();
  const { budget, peakBytes } = watchedBudget(clock);
  let count: number;
  let delta: object;
  let provider: ScriptedProvider;
  let guardrail: ScriptedGuardrail;
  let harness: Harness;
  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0; at < count; at += 1) outgoing.write(chunkEvent(delta));
      outgoing.end(`${chunkEvent({ content: 'Done.' }, 'stop')}data: [DONE]\n\n`);
    });
    guardrail = await startScriptedGuardrail();
    guardrail.answer(() => ({ action: 'pass' }));
    harness = await startHarness({
      clock,
      models: { 'acme/m': [{ provider: 'acme', upstream: 'm' }] },
      providers: { acme: { base_url: provider.url } },
      guardrails: [{ id: 'words', kind: 'http', url: guardrail.url, on: ['output'] }],
      workspace: { guardrails: ['words'] },
      replace: () => ({ memory: budget }),
    });
  });
  afterAll(async () => {
    await harness.stop();
    await provider.stop();
    await guardrail.stop();
  });

  const long = 'x'.repeat(mib);
  it.each([
    ['events without a text', 16, { tool_calls: [{ index: 0, id: long, function: { name: 'f', arguments: '' } }] }],
    ['texts', 24, { content: long }],
  ])(
    'keeps no more than some of its events, and of its texts what one event can repeat: %s',
    async (_what, many, expectedCalls) => {
      [count, delta] = [many, expectedCalls];
      const response = await harness.post(hello('acme/m', { stream: true }));
      expect((await response.text()).match(/x{1048576}/g)).toHaveLength(count);
      await harness.settled();
      expect(peakBytes()).toBeLessThan(46 * mib);
      expect(budget.bytesInUse()).toBe(0);
    },
  );
});

describe('bodies for the content log', () => {
  const clock = manualClock();
  const maxBytes = 24 * mib;
  const { budget, peakBytes } = watchedBudget(clock, maxBytes);
  const blobs = memoryBlobs();
  let put: BlobStore['put'] = blobs.put;
  let provider: ScriptedProvider;
  let harness: Harness;
  let owner: OperatorRequests;
  beforeAll(async () => {
    provider = await startScriptedProvider((outgoing) =>
      sendJson(outgoing, completionOf({ content: 'y'.repeat(mib) })),
    );
    harness = await startHarness({
      clock,
      models: { 'acme/m': [{ provider: 'acme', upstream: 'm' }] },
      providers: { acme: { base_url: provider.url } },
      workspace: { content_log: { keep: '7d' } },
      replace: () => ({ memory: budget, blobs: { ...blobs, put: (...args) => put(...args) } }),
    });
    owner = await operatorOf(harness, 'olga');
  });
  afterAll(async () => {
    await harness.stop();
    await provider.stop();
  });
  const ask = async () => {
    const response = await harness.post(hello('acme/m'));
    expect([response.status, (await response.text()).length > mib]).toEqual([200, true]);
    return response.headers.get('x-request-id') ?? '';
  };
  const contentOf = async (id: string) => (await owner.get(`/calls/${id}`)).body.data.content;

  const callsBeyond = 12;
  const askAll = async () => {
    const ids: string[] = [];
    for (let call = 0; call < callsBeyond; call += 1) ids.push(await ask());
    expect(budget.bytesInUse()).toBeLessThanOrEqual(maxBytes / 3);
    expect(peakBytes()).toBeLessThanOrEqual(maxBytes);
    return ids;
  };

  it('wait for a slow storage in a share of the memory: calls beyond are whole, and their bodies are cut', async () => {
    const storing = Promise.withResolvers<void>();
    put = async (...args) => {
      await storing.promise;
      return blobs.put(...args);
    };
    const ids = await askAll();
    storing.resolve();
    await harness.settled();
    const [first = '', last = ''] = [ids[0], ids.at(-1)];
    expect(await contentOf(first)).toEqual({ state: 'kept', keep: '7d', cut: false });
    expect(await contentOf(last)).toEqual({ state: 'kept', keep: '7d', cut: true });
    expect((await owner.get(`/calls/${first}/content`)).body.data.answer.body.length).toBeGreaterThan(mib);
    const { request, answer } = (await owner.get(`/calls/${last}/content`)).body.data;
    expect([request.includes('Hello'), answer]).toEqual([true, { status: 200, body: '' }]);
    expect(budget.bytesInUse()).toBe(0);
  });

  it('are lost if the storage hangs: each call is answered, charged and recorded, and all memory comes back', async () => {
    put = () => new Promise(() => {});
    const { spent } = await harness.credit();
    const ids = await askAll();
    await whileTimePasses(clock, harness, harness.settled());
    for (const id of ids) {
      const { outcome, content } = (await owner.get(`/calls/${id}`)).body.data;
      expect([outcome, content]).toEqual(['ok', { state: 'failed', keep: '7d', cut: false }]);
    }
    expect(budget.bytesInUse()).toBe(0);
    expect((await harness.credit()).spent - spent).toBe(20_000_000n * BigInt(callsBeyond));
  });
});
