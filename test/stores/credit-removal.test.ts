// Credit that an operator takes away: never what calls hold, and once for every id.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type CreditAccount, createCreditLedger } from '../../shared/accounting/credit/index.ts';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const nowMs = 1_800_000_000_000;
const leaseMs = 70_000;

describe.each([1, 4])('credit in %i shards', (shards) => {
  async function newAccount(name: string, credit: bigint) {
    const workspace = `${name}-${shards}`;
    const clock = manualClock(nowMs);
    const counters = createCounters({ store: test.store, clock, randomness: systemRandomness });
    const ledger = createCreditLedger({ store: test.store, counters, randomness: systemRandomness });
    const account: CreditAccount = { workspace, shards, spendLimit: null };
    await ledger.create(workspace, credit);
    const hold = (owner: string, amount: bigint) =>
      ledger.take(account, { owner, amount, expiresAtMs: nowMs + leaseMs });
    const remove = (amount: bigint, id: string) =>
      ledger.add({ workspace, shards, amount: -amount, id, nowMs: clock.nowMs() });
    return { ledger, account, hold, remove, clock };
  }

  it('is taken away once for every id', async () => {
    const { ledger, account, remove } = await newAccount('once', 100n);
    const results = await Promise.all(Array.from({ length: 4 }, () => remove(30n, 'refund')));
    expect(results.toSorted()).toEqual(['added', 'known', 'known', 'known']);
    expect(await remove(31n, 'refund')).toBe('other_amount');
    expect(await ledger.show(account)).toMatchObject({ granted: 70n, available: 70n, held: 0n });
  });

  it('is taken away to the last unit that no call holds, and not one more', async () => {
    const { ledger, account, hold, remove } = await newAccount('held', 100n);
    // Holds in several shards: what is left lies in all of them.
    for (const owner of ['a', 'b', 'c']) expect((await hold(owner, 10n)).kind).toBe('taken');
    expect(await remove(71n, 'too-much')).toBe('insufficient');
    expect(await ledger.show(account)).toMatchObject({ granted: 100n, available: 70n, held: 30n });
    expect(await remove(70n, 'the-rest')).toBe('added');
    expect(await ledger.show(account)).toMatchObject({ granted: 30n, available: 0n, held: 30n });
  });

  it('that a dead call held is free once its hold has expired', async () => {
    const { ledger, account, hold, remove, clock } = await newAccount('expired', 100n);
    await hold('dead', 100n);
    clock.advance(leaseMs - 1);
    expect(await remove(1n, 'early')).toBe('insufficient');
    clock.advance(1);
    expect(await remove(100n, 'late')).toBe('added');
    expect(await ledger.show(account)).toMatchObject({ granted: 0n, available: 0n, held: 0n });
  });

  it('of calls that run meanwhile is never taken away under them', async () => {
    const { ledger, account, hold, remove } = await newAccount('race', 100n);
    const [holds, removals] = await Promise.all([
      Promise.all(Array.from({ length: 8 }, (_none, index) => hold(`call-${index}`, 10n))),
      Promise.all(Array.from({ length: 8 }, (_none, index) => remove(10n, `take-${index}`))),
    ]);
    const taken = BigInt(holds.filter(({ kind }) => kind === 'taken').length);
    const removed = BigInt(removals.filter((result) => result === 'added').length);
    const { available, held, granted } = await ledger.show(account);
    expect({ granted, held, available }).toEqual({
      granted: 100n - removed * 10n,
      held: taken * 10n,
      available: 100n - (removed + taken) * 10n,
    });
    expect(available).toBeGreaterThanOrEqual(0n);
  });

  it('of an account that was never created is absent', async () => {
    const { ledger } = await newAccount('other', 1n);
    const addition = { workspace: `nobody-${shards}`, shards, amount: -1n, id: 'x', nowMs };
    expect(await ledger.add(addition)).toBe('absent');
  });
});
