// Credit in several shards: it is spent as if it were in one, and a transfer between two loses and creates nothing,
// wherever its process dies.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type CreditAccount,
  type CreditHold,
  type CreditLedger,
  type CreditSummary,
  createCreditLedger,
} from '../../shared/accounting/credit/index.ts';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { type Randomness, systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const nowMs = 1_800_000_000_000;
const holdLifeMs = 70_000;
const newHold = (owner: string, amount: bigint, atMs = nowMs) => ({ owner, amount, expiresAtMs: atMs + holdLifeMs });

/** Of one process: what one ledger has taken another cannot settle. */
const newLedger = (
  store: Store = test.store,
  randomness: Randomness = systemRandomness,
  clock: ManualClock = manualClock(nowMs),
) =>
  createCreditLedger({
    store,
    clock,
    counters: createCounters({ store, clock, randomness: systemRandomness }),
    randomness,
  });

/** A process that dies with its nth write: after it was done, or before. Every later call fails. */
function dyingStore(writes: number, isLastDone: boolean): Store {
  let done = 0;
  const dead = () => new StoreUnavailable(new Error('the process died'));
  return {
    ...test.store,
    get: async (...args) => {
      if (done >= writes) throw dead();
      return test.store.get(...args);
    },
    update: async (...args) => {
      done += 1;
      if (done < writes) return test.store.update(...args);
      if (done === writes && isLastDone) await test.store.update(...args);
      throw dead();
    },
  };
}

const always = (shard: number, shards: number): Randomness => ({
  ...systemRandomness,
  fraction: () => (shard + 0.5) / shards,
});

const expectConserved = ({ granted, available, held, spent }: CreditSummary): void => {
  expect(available + held + spent).toBe(granted);
};

describe('sharded credit', () => {
  it('spreads to a shard that calls met empty, so that the next one is one write', async () => {
    const account: CreditAccount = { workspace: 'spread', shards: 2, spendLimit: 900n };
    const ledger = newLedger(test.store, always(1, 2));
    await ledger.create('spread', 1_000n);
    const first = await ledger.take(account, newHold('a', 10n));
    if (first.kind !== 'taken') throw new Error('taken');
    expect(first.hold).toMatchObject({ shard: 0, shortShard: 1 });
    await ledger.settle(first.hold, 4n);
    const second = await ledger.take(account, newHold('b', 10n));
    expect(second).toMatchObject({ kind: 'taken', hold: { shard: 1 } });
    expectConserved(await ledger.show(account));
  });

  it('shows what dead owners held as available, in whatever shard it stands, before anything gives it back', async () => {
    const account: CreditAccount = { workspace: 'dead-shown', shards: 3, spendLimit: 80n };
    const clock = manualClock(nowMs);
    const ledger = newLedger(test.store, systemRandomness, clock);
    await ledger.create('dead-shown', 100n);
    for (let n = 0; n < 6; n += 1) await ledger.take(account, newHold(`dead-${n}`, 10n, nowMs + (n % 3) * 5_000));
    expect(await ledger.show(account)).toEqual({
      granted: 100n,
      available: 40n,
      underSpendLimit: 20n,
      held: 60n,
      expired: 0n,
      firstEndMs: nowMs + holdLifeMs,
      spent: 0n,
    });
    // Those of the first five seconds and those of the second; the rest may still be running.
    clock.advance(holdLifeMs + 5_000);
    expect(await ledger.show(account)).toEqual({
      granted: 100n,
      available: 80n,
      underSpendLimit: 60n,
      held: 20n,
      expired: 40n,
      firstEndMs: nowMs + holdLifeMs + 10_000,
      spent: 0n,
    });
    expect((await ledger.take(account, newHold('next', 60n, clock.nowMs()))).kind).toBe('taken');
    expect(await ledger.show(account)).toMatchObject({ available: 20n, underSpendLimit: 0n, held: 80n, expired: 0n });
  });

  it('of an unsharded workspace stays where it was when shards are added', async () => {
    const ledger = newLedger();
    await ledger.create('grown', 100n);
    const before = await ledger.take({ workspace: 'grown', spendLimit: null }, newHold('a', 30n));
    const account: CreditAccount = { workspace: 'grown', shards: 8, spendLimit: null };
    expect((await ledger.take(account, newHold('b', 70n))).kind).toBe('taken');
    if (before.kind === 'taken') await ledger.settle(before.hold, 30n);
    expect(await ledger.show(account)).toMatchObject({ granted: 100n, available: 0n, held: 70n, spent: 30n });
  });

  it('never spends more than the limit while shards are added, whichever processes know of them', async () => {
    const limit = 100n;
    const former: CreditAccount = { workspace: 'growing', spendLimit: limit };
    const grown: CreditAccount = { workspace: 'growing', shards: 4, spendLimit: limit };
    const ledger = newLedger();
    await ledger.create('growing', 1_000n);
    const taken: { ledger: CreditLedger; hold: CreditHold }[] = [];
    const take = async (account: CreditAccount, amount: bigint, shard = 0) => {
      const one = newLedger(test.store, always(shard, 4));
      const result = await one.take(account, newHold(`o-${taken.length}-${amount}`, amount));
      if (result.kind === 'taken') taken.push({ ledger: one, hold: result.hold });
      return result.kind;
    };
    expect(await take(former, 90n)).toBe('taken');
    // Each shard alone would have had a share of 25.
    const kinds = await Promise.all(
      [0, 1, 2, 3, 1, 2].map((shard, index) => take(index % 2 === 0 ? grown : former, 5n, shard)),
    );
    expect(kinds.filter((kind) => kind === 'taken')).toHaveLength(2);
    expect(await ledger.show(grown)).toMatchObject({ held: limit, underSpendLimit: 0n });
    for (const one of taken) await one.ledger.settle(one.hold, one.hold.amount);
    for (const shard of [0, 1, 2, 3]) expect(await take(grown, 1n, shard)).toBe('insufficient');
    expect(await ledger.show(grown)).toMatchObject({ spent: limit, underSpendLimit: 0n });
  });

  it('stops at a lower spend limit, though other shards had headroom under the former one', async () => {
    const account: CreditAccount = { workspace: 'lowered', shards: 2, spendLimit: 1_000n };
    const ledger = newLedger(test.store, always(1, 2));
    await ledger.create('lowered', 10_000n);
    const first = await ledger.take(account, newHold('a', 100n));
    if (first.kind !== 'taken') throw new Error('taken');
    await ledger.settle(first.hold, 100n);
    const lowered = { ...account, spendLimit: 50n };
    // The shard of the limit is met in debt.
    const elsewhere = newLedger(test.store, always(0, 2));
    expect(await elsewhere.take(lowered, newHold('b', 1n))).toMatchObject({
      kind: 'insufficient',
      short: 'spend_limit',
      available: -50n,
    });
  });

  it('cannot have more shards than a shortage can read', async () => {
    const account: CreditAccount = { workspace: 'many', shards: 33, spendLimit: null };
    await expect(newLedger().take(account, newHold('a', 1n))).rejects.toThrow(RangeError);
  });
});

it('sharded credit adds up under random calls, deaths and shortages', async () => {
  let runs = 0;
  const call = fc.record({
    amount: fc.bigInt(1n, 60n),
    actual: fc.bigInt(0n, 70n),
    end: fc.constantFrom('settle', 'settle twice', 'release', 'never'),
    /** The write with which its process dies, if it does. */
    diesAt: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined, freq: 3 }),
    waitMs: fc.constantFrom(0, 0, 30_000, holdLifeMs),
  });
  const waves = fc.array(fc.array(call, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(waves, fc.integer({ min: 1, max: 4 }), fc.boolean(), async (sequence, shards, isCapped) => {
      runs += 1;
      const account = { workspace: `random-${runs}`, shards, spendLimit: isCapped ? 150n : null };
      await newLedger().create(account.workspace, 200n);
      let [atMs, owners, overdraft] = [nowMs, 0, 0n];
      for (const wave of sequence) {
        await Promise.all(
          wave.map(async ({ amount, actual, end, diesAt }) => {
            owners += 1;
            const store = diesAt === undefined ? test.store : dyingStore(diesAt, diesAt % 2 === 0);
            const ledger = newLedger(store, systemRandomness, manualClock(atMs));
            try {
              const take = await ledger.take(account, newHold(`o-${owners}`, amount, atMs));
              if (take.kind !== 'taken' || end === 'never') return;
              if (end === 'release') return void (await ledger.giveBack(take.hold));
              if (actual > amount) overdraft += actual - amount;
              await ledger.settle(take.hold, actual);
              if (end === 'settle twice') await ledger.settle(take.hold, actual);
            } catch (error) {
              if (!(error instanceof StoreUnavailable)) throw error;
            }
          }),
        );
        const summary = await newLedger().show(account);
        expectConserved(summary);
        expect(summary.granted).toBe(200n);
        expect(summary.available).toBeGreaterThanOrEqual(-overdraft);
        const { held, spent, underSpendLimit } = summary;
        expect(underSpendLimit).toBe(isCapped ? 150n - held - spent : null);
        if (underSpendLimit !== null) expect(underSpendLimit).toBeGreaterThanOrEqual(-overdraft);
        atMs += wave[0]?.waitMs ?? 0;
      }
      // When all is over, every bit that was not spent can be held by one call.
      const { spent } = await newLedger().show(account);
      const rest = (isCapped ? 150n : 200n) - spent;
      if (rest <= 0n) return;
      const endMs = atMs + 2 * holdLifeMs;
      const last = newLedger(test.store, systemRandomness, manualClock(endMs));
      expect((await last.take(account, newHold('last', rest, endMs))).kind).toBe('taken');
    }),
    // Some 400 calls, a third of which die.
    { numRuns: 30 },
  );
});
