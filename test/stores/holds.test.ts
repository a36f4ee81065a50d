// Holds on a real engine: what many takers at once may do cannot be shown on a fake.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Counter, createCounters, readHeld, UpdateDraft } from '../../shared/accounting/holds/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
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
