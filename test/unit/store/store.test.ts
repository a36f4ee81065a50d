import { describe, expect, it } from '#jest';
import { tableNaming } from '../../../shared/foundation/constants/index.ts';
import { type Clock, nextTurn } from '../../../shared/foundation/time/index.ts';
import {
  type CallKind,
  callWithAttempts,
  ItemsUnprocessed,
  maySendAgain,
} from '../../../shared/storage/aws-clients/attempts.ts';
import { getInput, queryInput, scanInput } from '../../../shared/storage/dynamodb-store/command-inputs.ts';
import { batchRuns, coalesceRuns } from '../../../shared/storage/store/index.ts';
import { gatheredWrite } from '../../support/gathered-write.ts';
import { manualClock as steppedClock } from '../../support/manual-clock.ts';

/** Returns a clock whose timers fire by hand; backoffs end at once. */
function manualClock() {
  const timers: (() => void)[] = [];
  const clock: Clock = {
    nowMs: () => 0,
    after(delayMs, callback) {
      if (delayMs < 100) queueMicrotask(callback);
      else timers.push(callback);
      return () => {
        const index = timers.indexOf(callback);
        if (index >= 0) timers.splice(index, 1);
      };
    },
  };
  return { clock, timers };
}

const randomness = { uuid: () => '', bytes: () => Buffer.alloc(0), fraction: () => 0.5 };
const limitMs = 800;
/** Returns an error as the SDK throws it. */
const errorWith = (status: number, name: string) =>
  Object.assign(new Error(name), { name, $metadata: { httpStatusCode: status } });
const throttled = () => errorWith(400, 'ThrottlingException');
const failedTo = (syscall: string, code: string) => Object.assign(new Error(`${syscall} ${code}`), { syscall, code });
const neverConnected = () => failedTo('connect', 'ECONNREFUSED');

function harness(kind: CallKind, outcomes: (() => unknown)[], callerSignal?: AbortSignal) {
  const { clock, timers } = manualClock();
  let calls = 0;
  const result = callWithAttempts({ clock, randomness, limitMs, kind, callerSignal }, async () => {
    const outcome = outcomes[calls]?.();
    calls += 1;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  return { result, timers, calls: () => calls };
}

describe('the attempts of a call', () => {
  it('end without the text of an answer that is no JSON: it may hold a secret', async () => {
    const { result } = harness('repeatable', [() => new SyntaxError('Unexpected token, "hunter2" is not valid JSON')]);
    const error: Error = await result.then(() => new Error('no error')).catch((failure) => failure);
    expect(error.message).toBe('the answer is not the JSON that was expected');
    expect(`${error.stack} ${error.cause}`).not.toContain('hunter2');
  });
});

it('attempts end with the signal of the caller, and an aborted signal lets no call out', async () => {
  const caller = new AbortController();
  const running = harness('repeatable', [() => new Promise(() => {})], caller.signal);
  caller.abort(new Error('over'));
  await expect(running.result).rejects.toThrow('over');
  const late = harness('repeatable', [() => 'never'], caller.signal);
  await expect(late.result).rejects.toThrow('over');
  expect(late.calls()).toBe(0);
  expect(late.timers).toEqual([]);
});

describe('a throttled call', () => {
  const full = { ...randomness, fraction: () => 0.999 };
  /** Runs a call in which each attempt takes 5 ms; time passes as soon as no other work is left. */
  async function run(outcomes: (attempt: number) => unknown, throttledMaxMs = 1_900) {
    const clock = steppedClock(0);
    const beganAtMs: number[] = [];
    const options = { clock, randomness: full, limitMs, throttledMaxMs, kind: 'once' } as const;
    const call = callWithAttempts(options, async () => {
      beganAtMs.push(clock.nowMs());
      clock.advance(5);
      const outcome = outcomes(beganAtMs.length);
      if (outcome instanceof Error) throw outcome;
      return outcome;
    });
    let isOver = false;
    const result = call
      .catch((error: Error) => error.name)
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      await nextTurn();
      clock.advance(1);
    }
    return { result: await result, beganAtMs };
  }

  it('is repeated, a write as well, until the table takes it, within the two seconds of admission', async () => {
    const result = await run((attempt) => (attempt < 7 ? throttled() : 'taken'));
    expect([result.result, result.beganAtMs.length]).toEqual(['taken', 7]);
    const never = await run(throttled);
    expect(never.result).toBe('ThrottlingException');
    expect(never.beganAtMs.length).toBeGreaterThan(7);
    expect(never.beganAtMs.at(-1)).toBeGreaterThan(1_400);
    expect(never.beganAtMs.at(-1)).toBeLessThan(1_900);
  });

  it('ends after a number of attempts too, and with any other error at once', async () => {
    const often = await run(throttled, 60_000);
    expect([often.result, often.beganAtMs.length]).toEqual(['ThrottlingException', 16]);
    const failing = await run((attempt) => (attempt === 1 ? throttled() : errorWith(500, 'InternalServerError')));
    expect([failing.result, failing.beganAtMs.length]).toEqual(['InternalServerError', 2]);
  });
});

describe('another attempt', () => {
  it.each([
    ['a throttle', throttled()],
    ['a throttle of a hot partition', errorWith(400, 'ProvisionedThroughputExceededException')],
    ['a 429 without a code', errorWith(429, 'Unknown')],
    ['a batch that was written in part', new ItemsUnprocessed()],
    ['a connection that never was', neverConnected()],
    ['a host whose addresses all refuse', new AggregateError([neverConnected(), neverConnected()])],
    ['a host without an address', failedTo('getaddrinfo', 'ENOTFOUND')],
  ])('follows %s even for a write, because nothing was executed', (_case, error) => {
    expect(maySendAgain(error, 'once')).toBe(true);
  });
});

it('whatever reads sees what was written before it, page by page', () => {
  const last = { pk: 'a', sk: '1' };
  for (const input of [
    getInput(tableNaming('dev'), 'keys', 'a'),
    queryInput(tableNaming('dev'), 'records', 'a', {}, last),
    scanInput(tableNaming('dev'), 'keys', last),
  ]) {
    expect(input).toMatchObject({ ConsistentRead: true });
  }
  expect(queryInput(tableNaming('dev'), 'records', 'a', {}, last)).toMatchObject({
    Limit: 250,
    ExclusiveStartKey: last,
  });
});

/** Returns runs that end when the test says so. */
function heldRuns() {
  const runs: { readonly requests: readonly number[]; readonly end: PromiseWithResolvers<string> }[] = [];
  const ask = coalesceRuns((requests: readonly number[]) => {
    const end = Promise.withResolvers<string>();
    runs.push({ requests, end });
    return end.promise;
  });
  return { runs, ask };
}

describe('gathered runs', () => {
  it('begin with what the run before has left, in its order', async () => {
    const runs: { readonly gathered: readonly number[]; readonly result: PromiseWithResolvers<number[]> }[] = [];
    const ask = batchRuns((gathered: readonly number[]) => {
      const result = Promise.withResolvers<number[]>();
      runs.push({ gathered, result });
      return result.promise;
    });
    for (const number of [1, 2, 3, 4]) ask(number);
    runs[0]?.result.resolve([]);
    await gatheredWrite();
    ask(5);
    runs[1]?.result.resolve([3, 4]);
    await gatheredWrite();
    expect(runs.map(({ gathered }) => gathered)).toEqual([[1], [2, 3, 4], [3, 4, 5]]);
  });

  it('include requests without a waiting caller, which by themselves begin when their time is over', async () => {
    const clock = steppedClock();
    let gatherMs = 50;
    const runs: (readonly number[])[] = [];
    const ask = batchRuns(
      async (gathered: readonly number[]) => {
        runs.push(gathered);
        return [];
      },
      { clock, gatherMs: () => gatherMs },
    );
    ask(1, false);
    ask(2, false);
    ask(3);
    expect(runs).toEqual([[1, 2, 3]]);
    // The same holds while a run is under way.
    ask(4, false);
    await gatheredWrite();
    clock.advance(49);
    expect(runs).toHaveLength(1);
    ask(5, false);
    clock.advance(1);
    expect(runs[1]).toEqual([4, 5]);
    await gatheredWrite();
    clock.advance(1_000);
    gatherMs = 0;
    ask(6, false);
    expect(runs).toEqual([[1, 2, 3], [4, 5], [6]]);
  });
});

describe('shared runs', () => {
  it('take together what comes while one is under way or in the turn of its end, and answer each by its own run', async () => {
    const { runs, ask } = heldRuns();
    const [first, ...others] = [1, 2].map(ask);
    runs[0]?.end.resolve('a');
    expect(await first).toBe('a');
    others.push(ask(3));
    expect(runs).toHaveLength(1);
    await gatheredWrite();
    expect(runs.map(({ requests }) => requests)).toEqual([[1], [2, 3]]);
    runs[1]?.end.resolve('b');
    expect(await Promise.all(others)).toEqual(['b', 'b']);
    void ask(4);
    expect(runs[2]?.requests).toEqual([4]);
  });

  it('make a caller that asks again as soon as it is answered wait for no turn of the event loop', async () => {
    const { runs, ask } = heldRuns();
    const again = ask(1).then(() => ask(2));
    runs[0]?.end.resolve('a');
    // The promises between the runs take these microtasks, and no turn of the event loop.
    for (let tasks = 0; tasks < 10; tasks += 1) await Promise.resolve();
    expect(runs.map(({ requests }) => requests)).toEqual([[1], [2]]);
    runs[1]?.end.resolve('b');
    expect(await again).toBe('b');
  });

  it('go on after one that failed, which fails only those that were in it', async () => {
    const { runs, ask } = heldRuns();
    const [first, second] = [1, 2].map(ask);
    runs[0]?.end.reject(new Error('lost'));
    await expect(first).rejects.toThrow('lost');
    await gatheredWrite();
    runs[1]?.end.resolve('b');
    expect(await second).toBe('b');
  });
});
