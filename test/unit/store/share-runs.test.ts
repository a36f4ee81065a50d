import { describe, expect, it } from '#jest';
import { shareRuns } from '../../../shared/storage/store/index.ts';
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
