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
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';

onEachStore((start) => {
  // The credit of a workspace in one item, on a real engine.
  let test: TestStore;
  beforeAll(async () => {
    test = await start();
  });
  afterAll(() => test.stop());

  const nowMs = 1_800_000_000_000;
  const holdLifeMs = 70_000;
  const newHold = (owner: string, amount: bigint, atMs = nowMs) => ({ owner, amount, expiresAtMs: atMs + holdLifeMs });

  function holdOf(take: Awaited<ReturnType<CreditLedger['take']>>): CreditHold {
    if (take.kind !== 'taken') throw new Error(`not taken: ${take.kind}`);
    return take.hold;
  }

  async function newAccount(workspace: string, credit: bigint, spendLimit: bigint | null = null) {
    const clock = manualClock(nowMs);
    const counters = createCounters({ store: test.store, clock, randomness: systemRandomness });
    const ledger = createCreditLedger({ store: test.store, clock, counters, randomness: systemRandomness });
    await ledger.create(workspace, credit);
    const account: CreditAccount = { workspace, spendLimit };
    return { ledger, account, clock };
  }

  describe('the credit of a workspace', () => {
    it('is set when it is created, and only then', async () => {
      const { ledger, account } = await newAccount('created', 100n);
      expect(await ledger.create('created', 500n)).toBe('existing');
      await ledger.settle(holdOf(await ledger.take(account, newHold('a', 60n))), 60n);
      expect(await ledger.create('created', 100n)).toBe('existing');
      const races = await Promise.all(Array.from({ length: 5 }, () => ledger.create('created-by-many', 7n)));
      expect(races.filter((result) => result === 'created')).toHaveLength(1);
      expect(await ledger.show(account)).toMatchObject({ granted: 100n, available: 40n, spent: 60n });
      expect(await ledger.show({ workspace: 'created-by-many', spendLimit: null })).toMatchObject({ granted: 7n });
    });

    it('grows once for every id of an addition', async () => {
      const { ledger, account } = await newAccount('added', 10n);
      const addition = { workspace: 'added', amount: 5n, id: 'invoice-1', nowMs };
      const results = await Promise.all(Array.from({ length: 5 }, () => ledger.add(addition)));
      expect(results.toSorted()).toEqual(['added', 'known', 'known', 'known', 'known']);
      expect(await ledger.add({ ...addition, id: 'invoice-2' })).toBe('added');
      expect(await ledger.add({ ...addition, amount: 6n })).toBe('other_amount');
      await expect(ledger.add({ ...addition, amount: 0n })).rejects.toThrow(RangeError);
      expect(await ledger.show(account)).toMatchObject({ granted: 20n, available: 20n });
      const instance = async () => (await newAccount('added', 10n)).ledger;
      const instances = await Promise.all(Array.from({ length: 5 }, instance));
      const many = Array.from({ length: 20 }, (_none, at) => ({ ...addition, amount: 1n, id: `of-many-${at}` }));
      const outcomes = await Promise.all(many.map((one, at) => instances[at % 5]?.add(one)));
      expect(outcomes).toEqual(many.map(() => 'added'));
      expect(await ledger.show(account)).toMatchObject({ granted: 40n, available: 40n });
      expect(await ledger.add({ ...addition, workspace: 'nobody' })).toBe('absent');
      expect(await ledger.take({ workspace: 'nobody', spendLimit: null }, newHold('a', 1n))).toMatchObject({
        kind: 'insufficient',
      });
    });

    it('does not keep every addition for ever', async () => {
      const { ledger } = await newAccount('forgets', 0n);
      await ledger.add({ workspace: 'forgets', amount: 5n, id: 'old', nowMs });
      await ledger.add({ workspace: 'forgets', amount: 5n, id: 'new', nowMs: nowMs + 31 * 86_400_000 });
      const item = await test.store.get('ledger', 'ADDITIONS#forgets');
      expect(Object.keys(item ?? {}).filter((name) => name.startsWith('addition#'))).toEqual(['addition#new']);
    });

    it('keeps its counter as small as it was, however many additions are remembered', async () => {
      const { ledger } = await newAccount('small', 1n);
      for (let n = 1; n <= 20; n += 1) await ledger.add({ workspace: 'small', amount: 5n, id: `invoice-${n}`, nowMs });
      expect(await test.store.get('ledger', 'CREDIT#small')).toEqual({
        pk: 'CREDIT#small',
        granted_pico_usd: 101,
        balance_pico_usd: 101,
        granted_at_ms: nowMs,
        'received#additions': 20,
      });
    });

    it.each([1, 2, 3, 4])('gets an addition once although its process dies with write %s of it', async (dyingWrite) => {
      const workspace = `dying-${dyingWrite}`;
      const { ledger, account } = await newAccount(workspace, 10n);
      let writes = 0;
      const dying: Store = {
        ...test.store,
        update: async (...args) => {
          writes += 1;
          if (writes >= dyingWrite) throw new StoreUnavailable(new Error('the process died'));
          return test.store.update(...args);
        },
      };
      const clock = manualClock();
      const counters = createCounters({ store: dying, clock, randomness: systemRandomness });
      const dead = createCreditLedger({ store: dying, clock, counters, randomness: systemRandomness });
      const addition = { workspace, amount: 5n, id: 'invoice', nowMs };
      await dead.add(addition).catch(() => {});
      expect(await ledger.add(addition)).toBe(dyingWrite === 1 ? 'added' : 'known');
      expect(await ledger.add({ ...addition, id: 'next' })).toBe('added');
      expect(await ledger.show(account)).toMatchObject({ granted: 20n, available: 20n });
    });
  });

  // Credit that an operator removes: never reserved amounts, and once for every id.
  describe.each([1, 4])('credit in %i shards', (shards) => {
    async function newAccount(name: string, credit: bigint) {
      const workspace = `${name}-${shards}`;
      const clock = manualClock(nowMs);
      const counters = createCounters({ store: test.store, clock, randomness: systemRandomness });
      const ledger = createCreditLedger({ store: test.store, clock, counters, randomness: systemRandomness });
      const account: CreditAccount = { workspace, shards, spendLimit: null };
      await ledger.create(workspace, credit);
      const hold = (owner: string, amount: bigint) =>
        ledger.take(account, { owner, amount, expiresAtMs: nowMs + holdLifeMs });
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
      // The holds are in several shards, and so is the remaining credit.
      for (const owner of ['a', 'b', 'c']) expect((await hold(owner, 10n)).kind).toBe('taken');
      expect(await remove(71n, 'too-much')).toBe('insufficient');
      expect(await ledger.show(account)).toMatchObject({ granted: 100n, available: 70n, held: 30n });
      expect(await remove(70n, 'the-rest')).toBe('added');
      expect(await ledger.show(account)).toMatchObject({ granted: 30n, available: 0n, held: 30n });
    });

    it('that a dead call held is free once its hold has expired', async () => {
      const { ledger, account, hold, remove, clock } = await newAccount('expired', 100n);
      await hold('dead', 100n);
      clock.advance(holdLifeMs - 1);
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
      const takenCount = BigInt(holds.filter(({ kind }) => kind === 'taken').length);
      const removed = BigInt(removals.filter((result) => result === 'added').length);
      const { available, held, granted } = await ledger.show(account);
      expect({ granted, held, available }).toEqual({
        granted: 100n - removed * 10n,
        held: takenCount * 10n,
        available: 100n - (removed + takenCount) * 10n,
      });
      expect(available).toBeGreaterThanOrEqual(0n);
    });
  });

  // Credit in several shards can be spent as if it were in one shard. A transfer between two shards neither loses nor
  // creates credit, wherever its process dies.
  describe('in shards', () => {
    let test: TestStore;
    beforeAll(async () => {
      test = await start();
    });
    afterAll(() => test.stop());

    const nowMs = 1_800_000_000_000;
    const holdLifeMs = 70_000;
    const newHold = (owner: string, amount: bigint, atMs = nowMs) => ({
      owner,
      amount,
      expiresAtMs: atMs + holdLifeMs,
    });

    /** Returns the ledger of one process: another ledger cannot settle what this one has taken. */
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

    /**
     * Returns the store of a process that dies at its nth write, after the write or before it. Every later call fails.
     */
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

      it('shows the reservations of dead owners as available, in whatever shard they are, before they are released', async () => {
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
          item: expect.objectContaining({ pk: 'CREDIT#dead-shown' }),
        });
        // The reservations of the first five seconds and those of the second have ended; the rest may still be running.
        clock.advance(holdLifeMs + 5_000);
        expect(await ledger.show(account)).toEqual({
          granted: 100n,
          available: 80n,
          underSpendLimit: 60n,
          held: 20n,
          expired: 40n,
          firstEndMs: nowMs + holdLifeMs + 10_000,
          spent: 0n,
          item: expect.objectContaining({ pk: 'CREDIT#dead-shown' }),
        });
        expect((await ledger.take(account, newHold('next', 60n, clock.nowMs()))).kind).toBe('taken');
        expect(await ledger.show(account)).toMatchObject({
          available: 20n,
          underSpendLimit: 0n,
          held: 80n,
          expired: 0n,
        });
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
        const takenHolds: { ledger: CreditLedger; hold: CreditHold }[] = [];
        const take = async (account: CreditAccount, amount: bigint, shard = 0) => {
          const one = newLedger(test.store, always(shard, 4));
          const result = await one.take(account, newHold(`o-${takenHolds.length}-${amount}`, amount));
          if (result.kind === 'taken') takenHolds.push({ ledger: one, hold: result.hold });
          return result.kind;
        };
        expect(await take(former, 90n)).toBe('taken');
        // Each shard alone would have a share of 25.
        const kinds = await Promise.all(
          [0, 1, 2, 3, 1, 2].map((shard, index) => take(index % 2 === 0 ? grown : former, 5n, shard)),
        );
        expect(kinds.filter((kind) => kind === 'taken')).toHaveLength(2);
        expect(await ledger.show(grown)).toMatchObject({ held: limit, underSpendLimit: 0n });
        for (const one of takenHolds) await one.ledger.settle(one.hold, one.hold.amount);
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
        // The shard that this ledger reads is in debt.
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
        /** The write at which its process dies, if it does. */
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
                  if (end === 'release') return void (await ledger.release(take.hold));
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
          // In the end one call can reserve all credit that was not spent.
          const { spent } = await newLedger().show(account);
          const rest = (isCapped ? 150n : 200n) - spent;
          if (rest <= 0n) return;
          const endMs = atMs + 2 * holdLifeMs;
          const last = newLedger(test.store, systemRandomness, manualClock(endMs));
          expect((await last.take(account, newHold('last', rest, endMs))).kind).toBe('taken');
        }),
        // This makes some 400 calls, a third of which die.
        { numRuns: 30 },
      );
    });
  });
});
