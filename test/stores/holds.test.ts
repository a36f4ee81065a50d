// Holds on a real engine: what many takers at once may do cannot be shown on a fake.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  type Counter,
  type Counters,
  createCounters,
  readHeld,
  UpdateDraft,
} from '../../shared/accounting/holds/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Item, type Store, StoreUnavailable } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const holdLifeMs = 70_000;

/** A counter of its own per test, with the limit outside the item; `process` opens another gateway process on it. */
function counterOf(key: string, limit: bigint | null, store: Store = test.store) {
  const clock = manualClock();
  const counterWith = (of: bigint | null): Counter => ({
    table: 'ledger',
    key,
    balances: [{ attribute: 'balance', limit: of }],
    spentAttribute: 'spent',
  });
  const process = (on: Store = store) => {
    const counters = createCounters({ store: on, clock, randomness: systemRandomness });
    const holds = new Map<string, { owner: string; amount: bigint; expiresAtMs: number }>();
    return {
      take(owner: string, amount: bigint, of = limit) {
        const hold = { owner, amount, expiresAtMs: clock.nowMs() + holdLifeMs };
        holds.set(owner, hold);
        return counters.take(counterWith(of), hold);
      },
      settle(owner: string, actual: bigint) {
        const hold = holds.get(owner) ?? { owner, amount: 1n, expiresAtMs: clock.nowMs() + holdLifeMs };
        return counters.settle(counterWith(limit), hold, actual);
      },
    };
  };
  const item = async (): Promise<Item> => (await test.store.get('ledger', key)) ?? {};
  const state = async () => {
    const { balance = 0, spent = 0, ...rest } = await item();
    const held = readHeld(rest).reduce((sum, { amount }) => sum + amount, 0n);
    return { balance: BigInt(balance as number), spent: BigInt(spent as number), held };
  };
  return { clock, process, item, state, ...process() };
}

/** A store that counts its writes, or loses the answer of the next one although it was done. */
function watched(store: Store) {
  const seen = { writes: 0, reads: 0, losesNextAnswer: false };
  const watchedStore: Store = {
    ...store,
    get: (...args) => {
      seen.reads += 1;
      return store.get(...args);
    },
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
    const { store, seen } = watched(test.store);
    const { take, settle, state } = counterOf('one-write', 100n, store);
    await take('a', 40n);
    expect(seen).toMatchObject({ writes: 1, reads: 0 });
    expect(await state()).toEqual({ balance: -40n, held: 40n, spent: 0n });
    expect(await settle('a', 15n)).toMatchObject({ kind: 'settled', wasLate: false });
    expect(seen).toMatchObject({ writes: 2, reads: 0 });
    expect(await state()).toEqual({ balance: -15n, held: 0n, spent: 15n });
  });

  it('whose amount is zero or negative, or whose owner is no id, is refused before the store is asked', async () => {
    const { store, seen } = watched(test.store);
    const { take, settle } = counterOf('amounts', 10n, store);
    for (const amount of [0n, -1n]) await expect(take('a', amount)).rejects.toThrow(RangeError);
    await expect(take('a#b', 1n)).rejects.toThrow(RangeError);
    await expect(settle('a', -1n)).rejects.toThrow(RangeError);
    expect(seen).toMatchObject({ writes: 0, reads: 0 });
  });

  it('without a limit is always taken, and what it spends is counted', async () => {
    const { take, settle, state } = counterOf('no-limit', null);
    for (const owner of ['a', 'b', 'c']) {
      expect((await take(owner, 10n ** 9n)).kind).toBe('taken');
      await settle(owner, 5n);
    }
    expect(await state()).toEqual({ balance: -15n, spent: 15n, held: 0n });
    expect(await take('d', 2n, 16n)).toMatchObject({ kind: 'insufficient', available: 1n });
  });

  it('leaves an item whose size does not depend on how many calls hold something', async () => {
    const { process, item } = counterOf('size', null);
    const bytes = async () =>
      JSON.stringify(await item(), (_name, value) => (typeof value === 'bigint' ? Number(value) : value)).length;
    const { take } = process();
    await take('first', 1_000_000n);
    const one = await bytes();
    await Promise.all(Array.from({ length: 500 }, (_, n) => take(`o-${n}`, 1_000_000n)));
    expect(await bytes()).toBeLessThan(one + 10);
  });
});

describe('a settlement', () => {
  it('leaves a mark that the next write of its process removes, or any process once it is old', async () => {
    const { process, item, clock } = counterOf('marks', 100n);
    const marks = async () => Object.values(await item()).flatMap((value) => (value instanceof Set ? [...value] : []));
    const first = process();
    for (let round = 1; round <= 3; round += 1) {
      await first.take(`a-${round}`, 1n);
      expect(await marks()).toHaveLength(0);
      await first.settle(`a-${round}`, 1n);
      expect(await marks()).toHaveLength(1);
    }
    const second = process();
    await second.take('b', 1n);
    expect(await marks()).toHaveLength(1);
    clock.advance(110_000);
    await second.take('c', 1n);
    expect(await marks()).toHaveLength(0);
  });
});

describe('the hold of a dead owner', () => {
  it('is given back by a settlement that meets it, so that nothing waits for a shortage', async () => {
    const { clock, take, settle, state, item } = counterOf('healed', 100n);
    await take('dead', 10n);
    clock.advance(holdLifeMs);
    await take('me', 20n);
    await settle('me', 5n);
    expect(await state()).toEqual({ balance: -5n, held: 0n, spent: 5n });
    clock.advance(holdLifeMs);
    await take('later', 20n);
    await settle('later', 5n);
    expect(readHeld(await item())).toEqual([{ amount: 0n, expiresAtMs: clock.nowMs() + holdLifeMs }]);
  });
});

describe('a longer lease', () => {
  it('keeps its holds in as many buckets, so that they come back within a fifteenth of it', async () => {
    const clock = manualClock();
    const longMs = 855_000;
    const counters: Counters = createCounters({
      store: test.store,
      clock,
      randomness: systemRandomness,
      holdLifeMs: longMs,
    });
    const counter: Counter = { table: 'ledger', key: 'long-lease', balances: [{ attribute: 'balance', limit: 100n }] };
    for (let second = 0; second < 855; second += 15) {
      await counters.take(counter, { owner: `o-${second}`, amount: 1n, expiresAtMs: clock.nowMs() + longMs });
      clock.advance(15_000);
    }
    expect(readHeld((await test.store.get('ledger', 'long-lease')) ?? {}).length).toBeLessThanOrEqual(16);
    clock.advance(longMs + longMs / 15);
    const hold = { owner: 'next', amount: 100n, expiresAtMs: clock.nowMs() + longMs };
    expect((await counters.take(counter, hold)).kind).toBe('taken');
  });
});

describe('a write that is answered without its item', () => {
  const names = ['a', 'b', 'c', 'd', 'marks', 'others'];
  const name = fc.constantFrom(...names.slice(0, 4));
  const mark = fc.record({ set: fc.constantFrom('marks', 'others'), id: fc.constantFrom('x', 'y', 'z') });
  const change = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), name, amount: fc.bigInt(-5n, 5n) }),
    fc.record({ kind: fc.constant('set' as const), name, amount: fc.bigInt(-5n, 5n) }),
    fc.record({ kind: fc.constant('once' as const), name, source: name }),
    fc.record({ kind: fc.constant('remove' as const), name: fc.constantFrom(...names) }),
    fc.record({ kind: fc.constant('mark' as const), mark }),
    fc.record({ kind: fc.constant('unmark' as const), mark }),
  );

  it('makes of the item what its writer takes it for', async () => {
    let key = 0;
    const property = fc.asyncProperty(fc.array(fc.uniqueArray(change, targets), { maxLength: 4 }), async (writes) => {
      key += 1;
      const address = ['ledger', `applied-${key}`] as const;
      const start = Object.fromEntries(names.slice(0, 4).map((each) => [each, 1]));
      await test.store.put({ table: 'ledger', item: { pk: address[1], ...start } });
      let known = await test.store.get(...address);
      for (const changes of writes) {
        const draft = new UpdateDraft();
        for (const one of changes) {
          if (one.kind === 'add') draft.add(one.name, one.amount);
          if (one.kind === 'set') draft.set(one.name, one.amount);
          if (one.kind === 'once' && known?.[one.source] !== undefined) draft.setOnceFrom(one.name, one.source);
          if (one.kind === 'remove') draft.remove(one.name);
          if (one.kind === 'mark') draft.addElement(one.mark.set, one.mark.id);
          if (one.kind === 'unmark') draft.deleteElement(one.mark.set, one.mark.id);
        }
        const update = draft.toUpdate(...address, { repeatable: false, returnsNoItem: true });
        if (update.expression === '') continue;
        await test.store.update(update);
        known = draft.applyTo(known ?? {});
        expect(plain(known)).toEqual(plain(await test.store.get(...address)));
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });
});

/** DynamoDB takes one change of an attribute in a write. */
const targets = {
  selector: (change: object): string =>
    'mark' in change ? (change.mark as { set: string }).set : String((change as { name: string }).name),
};

/** Numbers of both kinds alike. */
const plain = (item: Item = {}) =>
  Object.fromEntries(
    Object.entries(item).map(([each, value]) => [each, value instanceof Set ? [...value].sort() : String(value)]),
  );
