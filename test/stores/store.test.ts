// Guarantees of the port on which every caller relies.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  absent,
  atMost,
  exists,
  type Item,
  less,
  or,
  type QueryOptions,
  StoreUnavailable,
} from '../../shared/storage/store/index.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';

onEachStore((start) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await start();
  });
  afterAll(() => test.stop());

  describe('what is stored', () => {
    const roundTrip = async (item: Item): Promise<Item | undefined> => {
      await test.store.put({ table: 'keys', item: { pk: 'round-trip', ...item } });
      const { pk: _pk, ...read } = (await test.store.get('keys', 'round-trip')) ?? {};
      return read;
    };

    it('comes back without undefined fields, and with null, empty text and bytes, at every depth', async () => {
      const bytes = new Uint8Array([0, 255]);
      const item = { a: undefined, b: { c: undefined, d: null, e: [bytes, 'B'] }, f: '', g: bytes };
      expect(await roundTrip(item)).toEqual({ b: { d: null, e: [bytes, 'B'] }, f: '', g: bytes });
    });

    it.each([
      ['no number', { n: Number.NaN }],
      ['no finite number', { n: Number.POSITIVE_INFINITY }],
      ['an integer that is not exact', { n: 2 ** 53 }],
      ['an instance of a class', { at: new Date(0) }],
    ])('is never %s: the put is refused, and nothing is stored', async (_what, item) => {
      const put = test.store.put({ table: 'keys', item: { pk: 'never-stored', ...item } });
      await expect(put).rejects.toThrow(StoreUnavailable);
      expect(await test.store.get('keys', 'never-stored')).toBeUndefined();
    });
  });

  describe('numbers in the store', () => {
    const largest = 10n ** 38n - 1n;

    it('are exact to 38 digits, also after arithmetic', async () => {
      await test.store.put({ table: 'keys', item: { pk: 'digits', n: largest - 1n, below: -largest } });
      expect(await test.store.get('keys', 'digits')).toEqual({ pk: 'digits', n: largest - 1n, below: -largest });
      const addition = await test.store.update({
        table: 'keys',
        key: 'digits',
        changes: { add: { n: 1n } },
      });
      expect(addition.item?.n).toBe(largest);
    });

    it('are exact whatever they are, safe integers as number and all others as bigint', async () => {
      const limit = 10n ** 38n - 1n;
      const numbers = fc.array(fc.bigInt({ min: -limit, max: limit }), { minLength: 1, maxLength: 20 });
      await fc.assert(
        fc.asyncProperty(numbers, async (all) => {
          await test.store.put({ table: 'keys', item: { pk: 'any', all } });
          const read = (await test.store.get('keys', 'any'))?.all as (bigint | number)[];
          expect(read.map((n) => BigInt(n))).toEqual(all);
          for (const n of read) expect(typeof n === 'bigint' || Number.isSafeInteger(n)).toBe(true);
        }),
      );
      await test.store.put({
        table: 'keys',
        item: { pk: 'kinds', safe: 2n ** 53n - 1n, unsafe: 2n ** 53n, part: 0.25 },
      });
      expect(await test.store.get('keys', 'kinds')).toEqual({
        pk: 'kinds',
        safe: 2 ** 53 - 1,
        unsafe: 2n ** 53n,
        part: 0.25,
      });
    });

    it('with more digits are refused and not rounded', async () => {
      const beyond = test.store.put({ table: 'keys', item: { pk: 'digits-39', n: 10n * largest + 1n } });
      await expect(beyond).rejects.toThrow(StoreUnavailable);
      expect(await test.store.get('keys', 'digits-39')).toBeUndefined();
    });

    it('are compared exactly beyond 2^53', async () => {
      await test.store.put({ table: 'keys', item: { pk: 'compare', n: 2n ** 53n + 1n } });
      const update = { table: 'keys', key: 'compare', changes: { set: { seen: true } } } as const;
      const refusal = await test.store.update({ ...update, condition: atMost('n', 2n ** 53n) });
      expect(refusal.kind).toBe('refused');
      const writeResult = await test.store.update({ ...update, condition: atMost('n', 2n ** 53n + 1n) });
      expect(writeResult.kind).toBe('written');
    });
  });

  describe('a query', () => {
    const skOf = async (items: AsyncIterable<Item>): Promise<unknown[]> => {
      const seen: unknown[] = [];
      for await (const { sk } of items) seen.push(sk);
      return seen;
    };

    it('keeps to its bounds, both ends included', async () => {
      for (const sk of ['a', 'b', 'c', 'd']) await test.store.put({ table: 'records', item: { pk: 'bounds', sk } });
      const between = (range: QueryOptions) => skOf(test.store.query('records', 'bounds', range));
      expect(await between({ from: 'b' })).toEqual(['b', 'c', 'd']);
      expect(await between({ to: 'b' })).toEqual(['a', 'b']);
      expect(await between({ from: 'b', to: 'c' })).toEqual(['b', 'c']);
      expect(await between({ from: 'bb', to: 'bc' })).toEqual([]);
    });
  });

  describe('the other calls', () => {
    it('show in a dump what any table holds, bytes included', async () => {
      await test.store.put({
        table: 'keys',
        item: { pk: 'dump', deep: { bytes: Buffer.from('canary-7') }, n: 10n ** 20n },
      });
      const dump = await test.dumpTables();
      expect(dump).toContain('canary-7');
      expect(dump).toContain('100000000000000000000');
    });
  });

  describe('writes', () => {
    it('tells each of twenty writers at once that was refused which item refused it', async () => {
      const put = async (n: number) => {
        const condition = or(absent('pk'), less('n', n));
        return [n, await test.store.put({ table: 'keys', item: { pk: 'twenty', n }, condition })] as const;
      };
      const results = await Promise.all(Array.from({ length: 20 }, (_, index) => put(20 - index)));
      for (const [n, { kind, item }] of results) {
        if (kind === 'written') expect(item).toEqual({ pk: 'twenty', n });
        else expect(Number(item?.n)).toBeGreaterThan(n);
      }
      expect(await test.store.get('keys', 'twenty')).toEqual({ pk: 'twenty', n: 20 });
      const update = { table: 'keys', key: 'none', changes: { set: { n: 1 } }, condition: exists('pk') } as const;
      expect(await test.store.update(update)).toEqual({ kind: 'refused' });
    });

    it('takes writes that nothing can refuse together, and if one of them is wrong loses that one alone', async () => {
      const { store } = await start();
      const add = (key: string, value: unknown) =>
        store.update({ table: 'statistics', key, changes: { add: { n: value as number } }, returnsNoItem: true });
      const record = { table: 'records', item: { pk: 'p', sk: '1', n: 1 } } as const;
      const write = async (value: unknown) =>
        (await Promise.allSettled([add('a', 1), add('b', value), store.batchPut([record])])).map(
          ({ status }) => status,
        );
      expect(await write(1)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
      expect(await write('no number')).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(await store.get('statistics', 'a')).toEqual({ pk: 'a', n: 2 });
      expect(await store.get('statistics', 'b')).toEqual({ pk: 'b', n: 1 });
      expect(await all(store.query('records', 'p'))).toEqual([record.item]);
    });

    it('answers each of the writes of one turn with its own item; one that is refused leaves the others written once', async () => {
      const { store } = await start();
      const add = (table: 'keys' | 'ledger' | 'limits', nMax: number) =>
        store.update({
          table,
          key: 'a',
          changes: { add: { n: 1 }, set: { stored_in: table } },
          condition: or(absent('n'), less('n', nMax)),
        });
      const write = (ledgerMax: number) =>
        Promise.all([
          add('keys', 9),
          add('ledger', ledgerMax),
          add('limits', 9),
          store.put({ table: 'config', item: { pk: 'a' } }),
        ]);
      const item = (table: string, n: number) => ({ pk: 'a', stored_in: table, n });
      const put = { kind: 'written', item: { pk: 'a' } };
      expect(await write(1)).toEqual([
        { kind: 'written', item: item('keys', 1) },
        { kind: 'written', item: item('ledger', 1) },
        { kind: 'written', item: item('limits', 1) },
        put,
      ]);
      expect(await write(1)).toEqual([
        { kind: 'written', item: item('keys', 2) },
        { kind: 'refused', item: item('ledger', 1) },
        { kind: 'written', item: item('limits', 2) },
        put,
      ]);
      expect(await store.get('config', 'a')).toEqual({ pk: 'a' });
    });

    it('refuses a batch with an item that is too large, and writes nothing of it', async () => {
      const { store } = await start();
      const batch = (item: (index: number) => Item) =>
        store.batchPut(
          Array.from({ length: 5 }, (_, index) => ({ table: 'records', item: { pk: 'p', ...item(index) } })),
        );
      await expect(batch((index) => ({ sk: `${index}`, text: 'x'.repeat(index * 150_000) }))).rejects.toThrow();
      expect(await all(store.scan('records'))).toEqual([]);
    });

    it('gives all items of a partition larger than one page, in their order, and of a scan', async () => {
      const { store } = await start();
      const text = 'ü'.repeat(100_000);
      const items = Array.from({ length: 30 }, (_, index) => ({ pk: 'p', sk: String(index).padStart(2, '0'), text }));
      await store.batchPut(items.map((item) => ({ table: 'records', item })));
      expect(await all(store.query('records', 'p', { from: '05' }))).toEqual(items.slice(5));
      expect(await all(store.scan('records'))).toHaveLength(30);
      await store.put({ table: 'keys', item: { pk: 'gone' } });
      await store.delete('keys', 'gone');
      expect(await store.get('keys', 'gone')).toBeUndefined();
    });
  });
});

async function all(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}
