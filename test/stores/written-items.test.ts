// Random writes to a store give the results of `holds` and `applyChanges`, so rules that the process evaluates and
// rules that the store checks are the same.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  applyChanges,
  ChangeImpossible,
  type Changes,
  type Condition,
  holds,
  type Item,
  StoreUnavailable,
} from '../../shared/storage/store/index.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';

const names = ['a', 'b', 'c', 'size', 'status'] as const;
const name = fc.constantFrom(...names);
const scalar = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.bigInt({ min: -(10n ** 38n) + 10n, max: 10n ** 38n - 10n }),
  fc.constantFrom('', 'x', 'y', 'é', '\u{1f600}', true, false, null),
);
const set = fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { minLength: 1 }).map((elements) => new Set(elements));
const map = fc.record({ n: scalar, text: fc.constantFrom('x', 'y') }, { requiredKeys: [] });
const bytes = fc.uint8Array({ maxLength: 3 });
const value = fc.oneof({ weight: 4, arbitrary: scalar }, set, map, bytes, fc.array(scalar, { maxLength: 2 }));
const item = fc.dictionary(name, value);

const at = fc.oneof({ weight: 3, arbitrary: name }, fc.tuple(name, fc.constantFrom('n', 'text')));
const ordered = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom('', 'x', 'é', '\u{1f600}', 2n ** 70n));
const order = fc.constantFrom('less', 'atMost', 'atLeast');
const { condition } = fc.letrec<{ condition: Condition; leaf: Condition; group: Condition }>((tie) => ({
  condition: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('group')),
  leaf: fc.oneof(
    fc.record({ kind: fc.constantFrom('exists', 'absent'), at }),
    fc.record({ kind: fc.constant('equals'), at, value }),
    fc.record({ kind: order, at, value: ordered }),
    fc.record({ kind: fc.constant('contains'), at: fc.constant('marks'), element: fc.constantFrom('x', 'y') }),
  ) as fc.Arbitrary<Condition>,
  group: fc.oneof(
    fc.record({
      kind: fc.constantFrom('and', 'or'),
      of: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not'), of: tie('condition') }),
  ) as fc.Arbitrary<Condition>,
}));

/** A change, which writes each attribute once. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('set'), name, value }),
  fc.record({ kind: fc.constant('setIfAbsent'), name, value }),
  fc.record({ kind: fc.constant('copyIfAbsent'), name, value: name }),
  fc.record({ kind: fc.constant('add'), name, value: fc.bigInt({ min: -5n, max: 5n }) }),
  fc.record({ kind: fc.constant('addElements'), name: fc.constantFrom('marks', ...names), value: set }),
  fc.record({ kind: fc.constant('removeElements'), name: fc.constantFrom('marks', ...names), value: set }),
);
const changes = fc
  .tuple(
    fc.uniqueArray(change, { maxLength: 4, selector: (one) => one.name }),
    fc.uniqueArray(fc.constantFrom('marks', ...names), { maxLength: 2 }),
  )
  .map(([setFields, remove]): Changes => {
    const kinds = Object.entries(Object.groupBy(setFields, ({ kind }) => kind));
    const records = kinds.map(([kind, ofKind = []]) => [
      kind,
      Object.fromEntries(ofKind.map((one) => [one.name, one.value])),
    ]);
    return { ...Object.fromEntries(records), remove };
  });

const write = fc.record(
  { changes, put: item, condition, isPut: fc.boolean(), returnOld: fc.boolean() },
  { requiredKeys: ['changes', 'put', 'isPut', 'returnOld'] },
);

/** Returns the expected answer and stored item, or undefined if the write fails and changes nothing. */
function expected(before: Item | undefined, key: string, one: ReturnType<typeof itemAfter>) {
  if (one.condition !== undefined && !holds(one.condition, before)) return { kind: 'refused', item: before };
  if (one.isPut) return { kind: 'written', item: { pk: key, ...one.put } };
  try {
    return { kind: 'written', item: { ...applyChanges(before ?? {}, one.changes), pk: key } };
  } catch (error) {
    if (error instanceof ChangeImpossible) return undefined;
    throw error;
  }
}
const itemAfter = (one: {
  readonly changes: Changes;
  readonly put: Item;
  readonly isPut: boolean;
  readonly returnOld: boolean;
  readonly condition?: Condition;
}) => one;

onEachStore((start) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await start();
  });
  afterAll(() => test.stop());

  describe('a store', () => {
    let runs = 0;

    it('makes of every write what its condition and its changes say of the item', async () => {
      const property = fc.asyncProperty(fc.array(write, { minLength: 1, maxLength: 6 }), async (writes) => {
        runs += 1;
        const key = `run-${runs}`;
        let before: Item | undefined;
        for (const one of writes.map(itemAfter)) {
          const expectation = expected(before, key, one);
          const { condition, returnOld } = one;
          const send = () =>
            one.isPut
              ? test.store.put({ table: 'keys', item: { pk: key, ...one.put }, condition, returnOld })
              : test.store.update({ table: 'keys', key, changes: one.changes, condition, returnOld });
          if (expectation === undefined) {
            await expect(send()).rejects.toThrow(StoreUnavailable);
          } else {
            const { kind, item } = await send();
            expect(kind).toBe(expectation.kind);
            const isOld = kind === 'written' && returnOld;
            expect(plain(item ?? {})).toEqual(plain((isOld ? before : expectation.item) ?? {}));
            before = expectation.item;
          }
          expect(plain(await test.store.get('keys', key))).toEqual(plain(before));
        }
      });
      await fc.assert(property, { numRuns: 300 });
    });

    it('makes of updates that come at the same time what it makes of each alone', async () => {
      const property = fc.asyncProperty(
        item,
        fc.array(write, { minLength: 1, maxLength: 4 }),
        async (first, writes) => {
          runs += 1;
          const [alone, ...together] = ['alone', 'one', 'other'].map((each) => `${each}-${runs}`) as [
            string,
            ...string[],
          ];
          for (const key of [alone, ...together]) await test.store.put({ table: 'keys', item: { ...first, pk: key } });
          for (const { changes, condition, returnOld } of writes.map(itemAfter)) {
            const send = (key: string) =>
              test.store.update({ table: 'keys', key, changes, condition, returnOld, repeatable: true }).then(
                ({ kind, item }) => ({ kind, item: plain(item ?? {}) }),
                (error: unknown) => ({ failed: error instanceof StoreUnavailable }),
              );
            const expectedOfBoth = await send(alone);
            expect(await Promise.all(together.map(send))).toEqual([expectedOfBoth, expectedOfBoth]);
            const storedItem = plain(await test.store.get('keys', alone));
            for (const key of together) expect(plain(await test.store.get('keys', key))).toEqual(storedItem);
          }
        },
      );
      await fc.assert(property, { numRuns: 100 });
    });
  });
});

/** Returns the item with sets in one order, numbers and bytes as one type each, and no key. */
function plain(value: unknown): unknown {
  if (value instanceof Set) return { set: [...value].sort() };
  if (value instanceof Uint8Array) return { bytes: [...value] };
  if (typeof value === 'number' || typeof value === 'bigint') return { number: String(value) };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([each, inside]) => (each === 'pk' ? [] : [[each, plain(inside)]])),
  );
}
