import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type CreditAccount,
  type CreditHold,
  type CreditTake,
  createCreditLedger,
} from '../../shared/accounting/credit/index.ts';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';

// The credit of a workspace in one item, on a real engine.
let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const nowMs = 1_800_000_000_000;
const holdLifeMs = 70_000;
const newHold = (owner: string, amount: bigint, atMs = nowMs) => ({ owner, amount, expiresAtMs: atMs + holdLifeMs });

function holdOf(take: CreditTake): CreditHold {
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

// Credit that an operator takes away: never what calls hold, and once for every id.
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
