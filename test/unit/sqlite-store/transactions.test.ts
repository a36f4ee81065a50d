// Work after a commit fails.
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '#jest';
import { createTransactions } from '../../../shared/storage/sqlite-store/transactions.ts';
import { manualClock } from '../../support/manual-clock.ts';

describe('work after a commit that fails', () => {
  it('fails the writes of that turn, whose answer is not known, and none of those that follow', async () => {
    const database = new DatabaseSync(':memory:');
    const failures = [new Error('no thread')];
    const transactions = createTransactions({
      database,
      clock: manualClock(),
      limitMs: 1,
      onBegin: () => {},
      onEnd: () => {},
      onCommitted: () => {
        const failure = failures.pop();
        if (failure !== undefined) throw failure;
        return undefined;
      },
      onFailed: () => {},
    });
    const ask = () => transactions.ask({ weight: 1, run: () => 'done' });
    expect(await Promise.allSettled([ask(), ask()])).toMatchObject(
      Array(2).fill({ status: 'rejected', reason: { message: 'no thread' } }),
    );
    expect(await ask()).toBe('done');
    await transactions.end();
    database.close();
  });
});
