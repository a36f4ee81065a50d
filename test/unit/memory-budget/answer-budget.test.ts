import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import type { GatewayError } from '../../../shared/errors/index.ts';
import {
  answerBytes,
  answerWeights,
  createMemoryBudget,
  openAnswerReservation,
  providerSocketBytes,
  wholeAnswer,
} from '../../../shared/protocol/memory-budget/index.ts';
import { countIteratorSteps } from '../../support/iterator-steps.ts';
import { manualClock } from '../../support/manual-clock.ts';

const kib = 1024;
const maxBytes = 1_200 * kib;
/** The share of the budget for answers. */
const answerMaxBytes = 400 * kib;

const settled = () => new Promise((resolve) => setImmediate(resolve));

function openBudget() {
  const clock = manualClock();
  const budget = createMemoryBudget(clock, { maxBytes });
  const ended: string[] = [];
  const answer = (
    bytes: number,
    { mayWait = true, memory = budget.open(), signal = undefined as AbortSignal | undefined } = {},
  ) => {
    const allocation = memory.openAnswer();
    const waits = allocation.take(bytes, { mayWait, signal });
    const call = { memory, allocation, value: waits === undefined ? 'at once' : 'waits' };
    void waits?.then(
      () => {
        call.value = 'later';
      },
      (error: GatewayError) => {
        call.value = error.code;
      },
    );
    return call;
  };
  const stand = (name: string, bytes: number, memory = budget.open()) => {
    memory.standStill(bytes, () => ended.push(name));
    return memory;
  };
  return { clock, budget, answer, ended, stand };
}

/** Returns the steps of work until this number of answers have had their turn, one after the other. */
async function stepsToServe(answers: number): Promise<number> {
  const { answer } = openBudget();
  const all = Array.from({ length: answers }, () => answer(answerMaxBytes));
  const steps = countIteratorSteps();
  for (const { memory } of all) {
    await settled();
    memory.end();
  }
  const turnCount = steps.end();
  expect(all.map(({ value }) => value)).toEqual(['at once', ...new Array(answers - 1).fill('later')]);
  return turnCount;
}

it('the bytes of an event are counted by its weight until it was passed on, with the socket of its provider', async () => {
  const { budget } = openBudget();
  const { signal } = new AbortController();
  const memory = openAnswerReservation(() => budget.open().openAnswer(), {
    ...{ path: { isTranslated: false, isGuarded: false }, signal, clientGone: signal, streamCopies: [] },
  });
  const pieces = [4_000, 4_192, 100].map((length) => Buffer.alloc(length));
  async function* body() {
    yield* pieces;
  }
  const countedBytes: number[] = [];
  for await (const piece of memory.assembling(body())) {
    countedBytes.push(budget.bytesInUse());
    if (piece === pieces[1]) memory.eventCame();
  }
  // Each stream holds only a small part of an event.
  expect(countedBytes).toEqual([0, answerWeights.event * 8_192 + providerSocketBytes, 0]);
});

it('an answer of a provider weighs more if it is translated, and if guardrails read it', () => {
  const { relayed, translated, guarded } = answerWeights;
  const bytesOf = (isTranslated: boolean, isGuarded: boolean) =>
    answerBytes(wholeAnswer(1_000, { isTranslated, isGuarded }));
  expect(bytesOf(false, false)).toBe(1_000 * relayed);
  expect(bytesOf(true, false)).toBe(1_000 * translated);
  expect(bytesOf(true, true)).toBe(1_000 * (translated + guarded));
});

describe('the memory of an answer', () => {
  it('is waited for with work that grows with the answers that wait, not with their square', async () => {
    const [few, many] = [await stepsToServe(100), await stepsToServe(1_000)];
    expect(few).toBeGreaterThan(100);
    expect(many).toBeLessThan(11 * few);
  });

  it('is a third that no request takes, and a short answer never waits for it', async () => {
    const { budget, answer } = openBudget();
    const request = budget.open().openRequest();
    expect(request.take({ workspace: 'a', bytes: 5_000 * kib, isLarge: true })).toBeUndefined();
    const first = answer(answerMaxBytes);
    const [waiting, short] = [answer(100 * kib), answer(60 * kib, { mayWait: false })];
    expect([first.value, waiting.value, short.value]).toEqual(['at once', 'waits', 'at once']);
    first.allocation.keepOnly(200 * kib);
    await settled();
    expect(waiting.value).toBe('later');
  });

  it('is waited for in line, by the first in it a second, and then one goes beyond it at a time', async () => {
    const { clock, budget, answer } = openBudget();
    const otherAnswer = answer(300 * kib);
    const [first, second, third] = [answer(300 * kib), answer(300 * kib), answer(50 * kib)];
    clock.advance(999);
    await settled();
    expect([first.value, second.value, third.value]).toEqual(['waits', 'waits', 'waits']);
    clock.advance(1);
    await settled();
    expect([first.value, second.value, third.value, budget.bytesInUse()]).toEqual([
      'later',
      'waits',
      'waits',
      600 * kib,
    ]);
    clock.advance(5_000);
    await settled();
    expect(second.value).toBe('waits');
    first.memory.end();
    clock.advance(1_000);
    await settled();
    expect([second.value, third.value, budget.bytesInUse()]).toEqual(['later', 'waits', 600 * kib]);
    otherAnswer.memory.end();
    await settled();
    expect(third.value).toBe('later');
  });

  it('that is more than all of it counts as all of it', () => {
    const { budget, answer } = openBudget();
    const { allocation } = answer(5_000 * kib);
    expect(allocation.take(6_000 * kib, { mayWait: true })).toBeUndefined();
    expect(budget.bytesInUse()).toBe(answerMaxBytes);
  });

  it('is waited for no longer than the call may, and not after its end', async () => {
    const { budget, answer } = openBudget();
    const otherAnswer = answer(answerMaxBytes);
    const stop = new AbortController();
    const [stopped, ended] = [answer(100 * kib, { signal: stop.signal }), answer(100 * kib)];
    stop.abort();
    ended.memory.end();
    const late = answer(100 * kib, { signal: stop.signal });
    otherAnswer.memory.end();
    await settled();
    expect([stopped.value, ended.value, late.value]).toEqual(new Array(3).fill('RATE_LIMITER_UNAVAILABLE'));
    expect(budget.bytesInUse()).toBe(0);
  });

  it('is not taken by a long answer that is loaded after the end of its call: nobody would read it', async () => {
    const { budget, answer } = openBudget();
    const memory = budget.open();
    memory.end();
    const [late, short] = [answer(100 * kib, { memory }), answer(kib, { memory, mayWait: false })];
    await settled();
    expect([late.value, short.value, budget.bytesInUse()]).toEqual(['RATE_LIMITER_UNAVAILABLE', 'at once', 0]);
  });

  it('stays reserved until the answer is loaded, also after the end of its call, whose waits end at once', async () => {
    const { budget, answer } = openBudget();
    const [loading, next] = [answer(answerMaxBytes), answer(answerMaxBytes)];
    const loads = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const works = loads.map(({ promise }) => loading.allocation.during(() => promise));
    const more = answer(kib, { memory: loading.memory });
    loading.memory.end();
    loads[0].resolve();
    await works[0];
    await settled();
    expect([next.value, more.value, budget.bytesInUse()]).toEqual([
      'waits',
      'RATE_LIMITER_UNAVAILABLE',
      answerMaxBytes,
    ]);
    loads[1].reject(new Error('is gone'));
    await expect(works[1]).rejects.toThrow('is gone');
    await settled();
    expect([next.value, budget.bytesInUse()]).toEqual(['later', answerMaxBytes]);
    next.memory.end();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('is filled by no answer whose call has ended before it is loaded', async () => {
    const { answer } = openBudget();
    const { allocation, memory } = answer(kib);
    memory.end();
    let isLoaded = false;
    const load = async () => {
      isLoaded = true;
    };
    await expect(allocation.during(load)).rejects.toMatchObject({ code: 'RATE_LIMITER_UNAVAILABLE' });
    expect(isLoaded).toBe(false);
  });

  it('ends every answer that takes it step by step, whatever they take, and is all released', async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(lengths, async (all) => {
        const { clock, budget } = openBudget();
        let whole = 0;
        const run = async (steps: number) => {
          const memory = budget.open();
          const allocation = memory.openAnswer();
          for (let step = 1; step <= steps; step += 1) await allocation.take(step * 70 * kib, { mayWait: true });
          memory.end();
          whole += 1;
        };
        const running = all.map(run);
        for (let second = 0; second < 15 && whole < all.length; second += 1) {
          await settled();
          expect(budget.bytesInUse()).toBeLessThanOrEqual(2 * answerMaxBytes);
          clock.advance(1_000);
        }
        expect(whole).toBe(all.length);
        await Promise.all(running);
        expect(budget.bytesInUse()).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('an unread answer', () => {
  it('is counted if its call keeps less, once, and until it is read, also after the end of its call', () => {
    const { budget, answer, stand } = openBudget();
    const { memory, allocation } = answer(40 * kib);
    stand('a', 30 * kib, memory);
    expect(budget.bytesInUse()).toBe(40 * kib);
    allocation.keepOnly(10 * kib);
    expect(budget.bytesInUse()).toBe(30 * kib);
    memory.end();
    expect(budget.bytesInUse()).toBe(30 * kib);
    memory.moveOn();
    expect(budget.bytesInUse()).toBe(0);
  });

  it('ends if all are more than their third, the one that stood longest; one that is read does not, nor one alone', () => {
    const { ended, stand, answer } = openBudget();
    const first = stand('first', 150 * kib);
    stand('second', 150 * kib);
    first.moveOn();
    stand('first', 150 * kib, first);
    expect(ended).toEqual([]);
    const third = stand('third', 150 * kib);
    expect(ended).toEqual(['second']);
    // A short answer does not wait, and the excess ends another answer.
    answer(60 * kib, { mayWait: false });
    answer(60 * kib, { mayWait: false });
    expect(ended).toEqual(['second', 'first']);
    third.moveOn();
    stand('alone', 900 * kib);
    expect(ended).toEqual(['second', 'first']);
  });

  it('ends once it has stood for half a second if an answer waits, and no more than that one needs', async () => {
    const { clock, ended, stand, answer } = openBudget();
    const [first, second] = [stand('first', 130 * kib), stand('second', 130 * kib)];
    const waiting = answer(250 * kib);
    clock.advance(499);
    expect([ended, waiting.value]).toEqual([[], 'waits']);
    clock.advance(1);
    expect(ended).toEqual(['first']);
    first.moveOn();
    await settled();
    expect(waiting.value).toBe('later');
    clock.advance(5_000);
    expect(ended).toEqual(['first']);
    second.moveOn();
  });

  it('ends at once if it has stood so long already', () => {
    const { clock, ended, stand, answer } = openBudget();
    stand('old', 150 * kib);
    const reading = stand('reading', 150 * kib);
    clock.advance(500);
    reading.moveOn();
    stand('reading', 150 * kib, reading);
    expect(ended).toEqual([]);
    expect(answer(250 * kib).value).toBe('waits');
    expect(ended).toEqual(['old']);
  });

  it('is counted exactly, whatever its call and its client do', () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('take', 'keep', 'stand', 'move', 'end'), fc.nat(90 * kib)));
    fc.assert(
      fc.property(steps, (all) => {
        const { budget, stand } = openBudget();
        const memory = budget.open();
        const allocation = memory.openAnswer();
        let [keptBytes, unread, hasEnded] = [0, 0, false];
        for (const [step, bytes] of all) {
          if (step === 'take') {
            void allocation.take(bytes, { mayWait: false });
            if (!hasEnded) keptBytes = Math.max(keptBytes, bytes);
          } else if (step === 'keep') {
            allocation.keepOnly(bytes);
            keptBytes = Math.min(keptBytes, bytes);
          } else if (step === 'stand') {
            stand('it', bytes, memory);
            unread = bytes;
          } else if (step === 'move') {
            memory.moveOn();
            unread = 0;
          } else {
            memory.end();
            [keptBytes, hasEnded] = [0, true];
          }
          expect(budget.bytesInUse()).toBe(Math.max(keptBytes, unread));
        }
      }),
    );
  });
});
