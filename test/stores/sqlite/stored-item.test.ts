import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Item, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { type FolderStore, openFolder } from './support.ts';

const integerMax = 10n ** 38n - 1n;
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'grapheme' }),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((n) => n + 0),
    fc.bigInt({ min: -integerMax, max: integerMax }),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 8 }),
    fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }).map((all) => new Set(all)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', '$n', '$s', '$b', '$m', '$', '{"$n', '__proto__'), tie('value'), { maxKeys: 3 }),
  ),
}));

let writer: FolderStore;
/** A store that has read no item before it is in the file. */
let reader: FolderStore;
beforeAll(async () => {
  writer = await openFolder();
  reader = await openFolder({ folder: writer.folder });
});
afterAll(() => Promise.all([writer.close(), reader.close()]));

const put = (item: Item) => writer.store.put({ table: 'keys', item: { ...item, pk: 'k' } });

describe('an item', () => {
  it('is in the file as it is in memory, whatever it holds: digits, sets, bytes, and maps that look like their forms', async () => {
    const items = fc.dictionary(fc.string(), value);
    await fc.assert(
      fc.asyncProperty(items, async (item) => {
        await put(item);
        const inMemory = await writer.store.get('keys', 'k');
        expect(Object.keys(inMemory ?? {}).sort()).toEqual([...new Set([...Object.keys(item), 'pk'])].sort());
        expect(await reader.store.get('keys', 'k')).toEqual(inMemory);
      }),
    );
  });

  it('has integers as numbers if these are exact, else as bigint', async () => {
    await put({ safe: 2n ** 53n - 1n, beyond: 2n ** 53n });
    for (const { store } of [writer, reader])
      expect(await store.get('keys', 'k')).toEqual({ pk: 'k', safe: 2 ** 53 - 1, beyond: 2n ** 53n });
  });

  it.each([
    ['39 digits', { n: 10n ** 38n }],
    ['a number that is not exact', { n: 2 ** 53 }],
    ['no number', { n: Number.NaN }],
    ['an empty set', { s: new Set() }],
    ['a set of numbers', { s: new Set([1]) }],
    ['an instance of a class', { at: new Date(0) }],
    ['a function', { f: () => {} }],
  ])('with %s is refused, and the one before stays', async (_what, item) => {
    await put({ was: 'before' });
    await expect(put(item)).rejects.toThrow(StoreUnavailable);
    expect(await reader.store.get('keys', 'k')).toEqual({ pk: 'k', was: 'before' });
  });

  it('gets no 39th digit by an addition', async () => {
    await put({ n: integerMax });
    const add = writer.store.update({ table: 'keys', key: 'k', changes: { add: { n: 1 } } });
    await expect(add).rejects.toThrow(StoreUnavailable);
    expect(await reader.store.get('keys', 'k')).toEqual({ pk: 'k', n: integerMax });
  });

  it('that two changes of one transaction make larger than 400 KB is refused at the second', async () => {
    const half = 'x'.repeat(210 * 1024);
    const add = (name: string, text: string) =>
      writer.store.update({ table: 'keys', key: 'k', changes: { set: { [name]: text } } });
    await put({ t: 'x' });
    const [first, second, third] = await Promise.allSettled([add('a', half), add('b', half), add('c', 'small')]);
    expect([first?.status, second?.status, third?.status]).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await reader.store.get('keys', 'k')).toEqual({ pk: 'k', t: 'x', a: half, c: 'small' });
  });

  it('that many small changes of one transaction make larger than 400 KB is refused at the change that passes it', async () => {
    const piece = 'é'.repeat(4 * 1024);
    await put({ t: 'x' });
    const changes = Array.from({ length: 60 }, (_none, at) =>
      writer.store.update({ table: 'keys', key: 'k', changes: { set: { [`n${at}`]: piece } } }),
    );
    const outcomes = await Promise.allSettled(changes);
    const writes = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(writes).toHaveLength(Math.floor((400 * 1024 - 4) / (8 * 1024 + 3)));
    expect(Object.keys((await reader.store.get('keys', 'k')) ?? {})).toHaveLength(writes.length + 2);
  });

  it('of 400 KB is stored, and of a byte more is not: as DynamoDB counts', async () => {
    const bytesMax = 400 * 1024 - 'pkk'.length - 't'.length;
    for (const make of [
      (bytes: number) => ({ t: 'x'.repeat(bytes) }),
      (bytes: number) => ({ t: 'é'.repeat(Math.floor(bytes / 2)) + 'x'.repeat(bytes % 2) }),
      (bytes: number) => ({ t: new Uint8Array(bytes) }),
    ]) {
      expect(await put(make(bytesMax))).toMatchObject({ kind: 'written' });
      await expect(put(make(bytesMax + 1))).rejects.toThrow(StoreUnavailable);
    }
    expect(await reader.store.get('keys', 'k')).toMatchObject({ t: new Uint8Array(bytesMax) });
  });
});
