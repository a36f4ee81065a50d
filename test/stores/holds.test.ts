// Holds on a real engine: what many takers at once may do cannot be shown on a fake.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Counter,
  lateSettlementMs,
  readHolds,
  settleHold,
  takeHold,
} from '../../shared/accounting/holds/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const startMs = 1_800_000_000_000;
const leaseMs = 70_000;

/** A counter of its own per test, with the limit outside the item. */
function counterOf(key: string, limit: bigint | null) {
  const counter: Counter = {
    table: 'ledger',
    key,
    balances: [{ attribute: 'balance', limit }],
    spentAttribute: 'spent',
  };
  const take = (owner: string, amount: bigint, nowMs = startMs, store: Store = test.store) =>
    takeHold({ store, counter, hold: { owner, amount, expiresAtMs: nowMs + leaseMs }, nowMs });
  const settle = (owner: string, held: bigint, actual: bigint, nowMs = startMs, store: Store = test.store) =>
    settleHold({ store, counter, owner, held, actual, nowMs });
  const state = async () => {
    const item = (await test.store.get('ledger', key)) ?? {};
    const entries = readHolds(item);
    const held = entries.reduce((sum, { amount }) => sum + amount, 0n);
    return { balance: BigInt(Number(item.balance ?? 0)), spent: BigInt(Number(item.spent ?? 0)), held, entries };
  };
  return { counter, take, settle, state };
}

/** A store that counts its writes, or loses the answer of the next one although it was done. */
function watched(store: Store) {
  const seen = { writes: 0, losesNextAnswer: false };
  const watchedStore: Store = {
    ...store,
    update: async (update, options) => {
      seen.writes += 1;
      const result = await store.update(update, options);
      if (!seen.losesNextAnswer) return result;
      seen.losesNextAnswer = false;
      throw new StoreUnavailable(new Error('the answer was lost'));
    },
  };
  return { store: watchedStore, seen };
}

describe('a hold', () => {
  it('is taken by one write and settled by one', async () => {
    const { take, settle, state } = counterOf('one-write', 100n);
    const { store, seen } = watched(test.store);
    await take('a', 40n, startMs, store);
    expect(seen.writes).toBe(1);
    expect(await state()).toMatchObject({ balance: -40n, held: 40n, spent: 0n });
    expect(await settle('a', 40n, 15n, startMs, store)).toMatchObject({ kind: 'settled', wasLate: false });
    expect(seen.writes).toBe(2);
    expect(await state()).toEqual({ balance: -15n, held: 0n, spent: 15n, entries: [] });
  });

  it('of fifty at once against a limit of ten is taken exactly ten times', async () => {
    const { take, state } = counterOf('race', 1_000n);
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => take(`o-${n}`, 100n)));
    expect(results.filter(({ kind }) => kind === 'taken')).toHaveLength(10);
    for (const result of results.filter(({ kind }) => kind === 'insufficient')) {
      expect(result).toMatchObject({ available: 0n });
    }
    expect(await state()).toMatchObject({ balance: -1_000n, held: 1_000n });
  });

  it('whose amount is zero or negative, or whose owner is no id, is refused before the store is asked', async () => {
    const { take, settle, state } = counterOf('amounts', 10n);
    for (const amount of [0n, -1n]) await expect(take('a', amount)).rejects.toThrow(RangeError);
    await expect(take('a#b', 1n)).rejects.toThrow(RangeError);
    await expect(settle('a', 1n, -1n)).rejects.toThrow(RangeError);
    expect(await state()).toEqual({ balance: 0n, held: 0n, spent: 0n, entries: [] });
  });

  it('is exact for amounts far beyond 2^53', async () => {
    const limit = 10n ** 27n;
    const { counter, take, settle } = counterOf('large', limit);
    await take('a', limit - 1n);
    expect(await take('b', 2n)).toMatchObject({ kind: 'insufficient', available: 1n });
    expect((await take('c', 1n)).kind).toBe('taken');
    await settle('a', limit - 1n, 10n ** 26n + 7n);
    const item = await test.store.get('ledger', counter.key);
    expect(item).toMatchObject({ balance: -(10n ** 26n) - 8n, spent: 10n ** 26n + 7n });
  });

  it('without a limit is always taken, and what it spends is counted', async () => {
    const { take, settle, state } = counterOf('no-limit', null);
    for (const owner of ['a', 'b', 'c']) {
      expect((await take(owner, 10n ** 9n)).kind).toBe('taken');
      await settle(owner, 10n ** 9n, 5n);
    }
    expect(await state()).toMatchObject({ balance: -15n, spent: 15n, held: 0n });
    const limited = counterOf('no-limit', 16n);
    expect(await limited.take('d', 2n)).toMatchObject({ kind: 'insufficient', available: 1n });
  });

  it('obeys a changed limit from the next one on', async () => {
    expect((await counterOf('changed', 10n).take('a', 8n)).kind).toBe('taken');
    expect(await counterOf('changed', 5n).take('b', 1n)).toMatchObject({ kind: 'insufficient', available: -3n });
    expect((await counterOf('changed', 12n).take('b', 4n)).kind).toBe('taken');
  });
});

describe('a settlement', () => {
  it('asked for again charges once', async () => {
    const { take, settle, state } = counterOf('twice', 100n);
    await take('a', 40n);
    const results = await Promise.all(Array.from({ length: 5 }, () => settle('a', 40n, 10n)));
    expect(results.filter(({ kind }) => kind === 'settled')).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === 'gone')).toHaveLength(4);
    expect(await state()).toEqual({ balance: -10n, spent: 10n, held: 0n, entries: [] });
  });

  it('whose answer was lost charges once when it is asked for again', async () => {
    const { take, settle, state } = counterOf('lost', 100n);
    const { store, seen } = watched(test.store);
    await take('a', 40n);
    seen.losesNextAnswer = true;
    await expect(settle('a', 40n, 10n, startMs, store)).rejects.toThrow(StoreUnavailable);
    expect(await settle('a', 40n, 10n, startMs, store)).toEqual({ kind: 'gone' });
    expect(await state()).toEqual({ balance: -10n, spent: 10n, held: 0n, entries: [] });
  });

  it('charges the real cost where it is above what was held', async () => {
    const { take, settle, state } = counterOf('above', 100n);
    await take('a', 90n);
    await settle('a', 90n, 130n);
    expect(await state()).toMatchObject({ balance: -130n, spent: 130n, held: 0n });
    expect(await take('b', 1n)).toMatchObject({ kind: 'insufficient', available: -30n });
  });
});

describe('a take whose answer was lost', () => {
  it('is recognised as its own when it is sent again, and holds once', async () => {
    const { take, state } = counterOf('lost-take', 100n);
    const { store, seen } = watched(test.store);
    seen.losesNextAnswer = true;
    await expect(take('a', 60n, startMs, store)).rejects.toThrow(StoreUnavailable);
    expect((await take('a', 60n)).kind).toBe('taken');
    expect(await state()).toMatchObject({ balance: -60n, held: 60n });
  });
});

describe('the hold of a dead owner', () => {
  it('comes back for the next request after its lease, and not before', async () => {
    const { take, settle, state } = counterOf('dead', 100n);
    await take('dead', 100n);
    const beforeMs = startMs + leaseMs - 1;
    expect(await take('next', 30n, beforeMs)).toMatchObject({ kind: 'insufficient', available: 0n });
    const { store, seen } = watched(test.store);
    expect((await take('next', 30n, startMs + leaseMs, store)).kind).toBe('taken');
    // Refused, and then one write that gives back and takes.
    expect(seen.writes).toBe(2);
    expect(await state()).toMatchObject({ balance: -30n, held: 30n });
    await settle('next', 30n, 30n, startMs + leaseMs);
    expect(await state()).toMatchObject({ balance: -30n, spent: 30n, held: 0n });
  });

  it('met by twenty takers at once is given back once', async () => {
    const { take, state } = counterOf('reclaim-race', 100n);
    await take('dead', 100n);
    const nowMs = startMs + leaseMs;
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => take(`o-${n}`, 30n, nowMs)));
    expect(results.filter(({ kind }) => kind === 'taken')).toHaveLength(3);
    expect(await state()).toMatchObject({ balance: -90n, held: 90n });
  });

  it('is given back by a settlement that meets it, so that nothing waits for a shortage', async () => {
    const { take, settle, state } = counterOf('healed', 100n);
    await take('dead', 10n);
    await take('me', 20n, startMs + 1);
    await settle('me', 20n, 5n, startMs + leaseMs);
    expect(await state()).toMatchObject({ balance: -5n, held: 0n, spent: 5n });
    await take('later', 20n, startMs + leaseMs);
    await settle('later', 20n, 5n, startMs + leaseMs + lateSettlementMs);
    expect((await state()).entries).toEqual([]);
  });

  it('in crowds is given back batch by batch', async () => {
    const { take, state } = counterOf('crowd', 60n);
    await Promise.all(Array.from({ length: 60 }, (_, n) => take(`dead-${n}`, 1n)));
    expect((await take('next', 55n, startMs + leaseMs)).kind).toBe('taken');
    expect(await state()).toMatchObject({ held: 55n, balance: -55n });
  });
});

describe('an owner that is only late', () => {
  it('is charged in full, once, after its hold was given to somebody else', async () => {
    const { take, settle, state } = counterOf('late', 100n);
    await take('late', 100n);
    const nowMs = startMs + leaseMs;
    await take('next', 100n, nowMs);
    expect(await settle('late', 100n, 70n, nowMs)).toMatchObject({ kind: 'settled', wasLate: true });
    expect(await settle('late', 100n, 70n, nowMs)).toEqual({ kind: 'gone' });
    expect(await state()).toMatchObject({ balance: -170n, spent: 70n, held: 100n });
    expect(await take('third', 1n, nowMs)).toMatchObject({ kind: 'insufficient', available: -70n });
  });

  it('settles as ever where nobody needed its hold', async () => {
    const { take, settle, state } = counterOf('late-unneeded', 100n);
    await take('late', 100n);
    const result = await settle('late', 100n, 70n, startMs + 2 * leaseMs);
    expect(result).toMatchObject({ kind: 'settled', wasLate: false });
    expect(await state()).toEqual({ balance: -70n, spent: 70n, held: 0n, entries: [] });
  });
});
