import { describe, expect, it } from '#jest';
import { gatherRuns, shareRuns } from '../../../shared/storage/store/index.ts';
import { gatheredWrite } from '../../support/gathered-write.ts';

/** Runs that end when the test says so. */
function heldRuns() {
  const runs: { readonly requests: readonly number[]; readonly end: PromiseWithResolvers<string> }[] = [];
  const ask = shareRuns((requests: readonly number[]) => {
    const end = Promise.withResolvers<string>();
    runs.push({ requests, end });
    return end.promise;
  });
  return { runs, ask };
}

describe('gathered runs', () => {
  it('begin with what the run before has left, in its order', async () => {
    const runs: { readonly gathered: readonly number[]; readonly left: PromiseWithResolvers<number[]> }[] = [];
    const ask = gatherRuns((gathered: readonly number[]) => {
      const left = Promise.withResolvers<number[]>();
      runs.push({ gathered, left });
      return left.promise;
    });
    for (const number of [1, 2, 3, 4]) ask(number);
    runs[0]?.left.resolve([]);
    await gatheredWrite();
    ask(5);
    runs[1]?.left.resolve([3, 4]);
    await gatheredWrite();
    expect(runs.map(({ gathered }) => gathered)).toEqual([[1], [2, 3, 4], [3, 4, 5]]);
  });
});

describe('shared runs', () => {
  it('begin at once for a request that is alone', () => {
    const { runs, ask } = heldRuns();
    void ask(1);
    expect(runs.map(({ requests }) => requests)).toEqual([[1]]);
  });

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
    // As many microtasks as the promises between them take, and no turn.
    for (let tasks = 0; tasks < 10; tasks += 1) await undefined;
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
