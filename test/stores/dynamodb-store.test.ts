// On a real engine: what a condition promises cannot be shown on a fake.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import {
  createDynamoClient,
  createDynamoStore,
  type Item,
  type QueryOptions,
  StoreUnavailable,
} from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

describe('a conditional put', () => {
  const creation = (pk: string, owner: string) =>
    ({ table: 'keys', item: { pk, owner }, condition: 'attribute_not_exists(pk)' }) as const;

  it('that is refused returns the standing item and changes nothing', async () => {
    const first = await test.store.put(creation('put-1', 'first'));
    expect(first).toEqual({ kind: 'written', item: { pk: 'put-1', owner: 'first' } });
    const second = await test.store.put(creation('put-1', 'second'));
    expect(second).toEqual({ kind: 'refused', item: { pk: 'put-1', owner: 'first' } });
    expect(await test.store.get('keys', 'put-1')).toEqual({ pk: 'put-1', owner: 'first' });
  });

  it('that replaces an item returns the old one when asked to', async () => {
    await test.store.put({ table: 'keys', item: { pk: 'put-2', lease: 5 } });
    const result = await test.store.put({
      table: 'keys',
      item: { pk: 'put-2', lease: 90 },
      condition: 'attribute_not_exists(pk) OR lease < :now',
      values: { ':now': 10 },
      returnOld: true,
    });
    expect(result).toEqual({ kind: 'written', item: { pk: 'put-2', lease: 5 } });
    const fresh = await test.store.put({ table: 'keys', item: { pk: 'put-3' }, returnOld: true });
    expect(fresh).toEqual({ kind: 'written', item: undefined });
  });

  it('of twenty at once lets one through, and all others learn who it was', async () => {
    const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
    const results = await Promise.all(owners.map((owner) => test.store.put(creation('put-race', owner))));
    const winners = results.filter(({ kind }) => kind === 'written');
    expect(winners).toHaveLength(1);
    const standing = await test.store.get('keys', 'put-race');
    for (const { item } of results) expect(item).toEqual(standing);
  });
});

describe('a conditional update', () => {
  it('returns the whole item after it, or before it when asked to', async () => {
    await test.store.put({ table: 'keys', item: { pk: 'update-1', n: 1, other: 'kept' } });
    const update = { table: 'keys', key: 'update-1', expression: 'ADD n :one', values: { ':one': 1 } } as const;
    expect(await test.store.update(update)).toEqual({ kind: 'written', item: { pk: 'update-1', n: 2, other: 'kept' } });
    const old = await test.store.update({ ...update, returnOld: true });
    expect(old.item).toEqual({ pk: 'update-1', n: 2, other: 'kept' });
    expect((await test.store.get('keys', 'update-1'))?.n).toBe(3);
  });

  it('that is refused returns the standing item, none if there is none, and creates nothing', async () => {
    const update = {
      table: 'keys',
      key: 'update-absent',
      expression: 'SET #s = :revoked',
      condition: 'attribute_exists(pk)',
      names: { '#s': 'status' },
      values: { ':revoked': 'revoked' },
    } as const;
    expect(await test.store.update(update)).toEqual({ kind: 'refused', item: undefined });
    expect(await test.store.get('keys', 'update-absent')).toBeUndefined();
    await test.store.put({ table: 'keys', item: { pk: 'update-absent', status: 'active' } });
    const refused = await test.store.update({
      ...update,
      condition: '#s <> :active',
      values: { ...update.values, ':active': 'active' },
    });
    expect(refused).toEqual({ kind: 'refused', item: { pk: 'update-absent', status: 'active' } });
  });
});

describe('a batch of puts', () => {
  it('writes more items than one request takes, over several tables, and replaces what stands', async () => {
    await test.store.put({ table: 'spans', item: { pk: 'batch-0', n: 'former', other: 1 } });
    const items = Array.from({ length: 60 }, (_, index) => ({ pk: `batch-${index}`, n: 10n ** 20n + BigInt(index) }));
    await test.store.batchPut(items.map((item, index) => ({ table: index % 2 === 0 ? 'spans' : 'keys', item })));
    for (const [index, item] of items.entries()) {
      expect(await test.store.get(index % 2 === 0 ? 'spans' : 'keys', item.pk)).toEqual(item);
    }
  });
});

describe('what is stored', () => {
  const roundTrip = async (item: Item): Promise<Item | undefined> => {
    await test.store.put({ table: 'keys', item: { pk: 'round-trip', ...item } });
    const { pk: _pk, ...read } = (await test.store.get('keys', 'round-trip')) ?? {};
    return read;
  };

  it('comes back without undefined members, and with null, empty text and bytes, at every depth', async () => {
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
    const added = await test.store.update({
      table: 'keys',
      key: 'digits',
      expression: 'ADD n :one',
      values: { ':one': 1n },
    });
    expect(added.item?.n).toBe(largest);
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
    await test.store.put({ table: 'keys', item: { pk: 'kinds', safe: 2n ** 53n - 1n, unsafe: 2n ** 53n, part: 0.25 } });
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
    const update = { table: 'keys', key: 'compare', expression: 'SET seen = :yes', condition: 'n <= :bound' } as const;
    const refused = await test.store.update({ ...update, values: { ':yes': true, ':bound': 2n ** 53n } });
    expect(refused.kind).toBe('refused');
    const written = await test.store.update({ ...update, values: { ':yes': true, ':bound': 2n ** 53n + 1n } });
    expect(written.kind).toBe('written');
  });
});

describe('a query', () => {
  const skOf = async (items: AsyncIterable<Item>): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for await (const { sk } of items) seen.push(sk);
    return seen;
  };

  it('gives one partition in the order of its sort keys, and nothing of its neighbours', async () => {
    for (const sk of ['3', '1', '2']) await test.store.put({ table: 'records', item: { pk: 'order', sk } });
    await test.store.put({ table: 'records', item: { pk: 'order#1', sk: '0' } });
    expect(await skOf(test.store.query('records', 'order'))).toEqual(['1', '2', '3']);
    expect(await skOf(test.store.query('records', 'none'))).toEqual([]);
  });

  it('keeps to its bounds, both ends included', async () => {
    for (const sk of ['a', 'b', 'c', 'd']) await test.store.put({ table: 'records', item: { pk: 'bounds', sk } });
    const between = (range: QueryOptions) => skOf(test.store.query('records', 'bounds', range));
    expect(await between({ from: 'b' })).toEqual(['b', 'c', 'd']);
    expect(await between({ to: 'b' })).toEqual(['a', 'b']);
    expect(await between({ from: 'b', to: 'c' })).toEqual(['b', 'c']);
    expect(await between({ from: 'bb', to: 'bc' })).toEqual([]);
  });

  it('goes over all pages', async () => {
    // A page ends at 1 MB; five items of 300 KB are more than one.
    const keys = Array.from({ length: 5 }, (_, index) => `page-${index}`);
    for (const sk of keys) {
      await test.store.put({ table: 'records', item: { pk: 'pages', sk, text: 'x'.repeat(300_000) } });
    }
    expect(await skOf(test.store.query('records', 'pages'))).toEqual(keys);
  });
});

describe('the other calls', () => {
  it('delete an item, and are content when there is none', async () => {
    await test.store.put({ table: 'config', item: { pk: 'gone' } });
    await test.store.delete('config', 'gone');
    await test.store.delete('config', 'gone');
    expect(await test.store.get('config', 'gone')).toBeUndefined();
  });

  it('scan every item of a table over all its pages, and only of that table', async () => {
    // A page ends at 1 MB; five items of 300 KB are more than one.
    const keys = Array.from({ length: 5 }, (_, index) => `page-${index}`);
    for (const pk of keys) await test.store.put({ table: 'config', item: { pk, text: 'x'.repeat(300_000) } });
    const seen: unknown[] = [];
    for await (const item of test.store.scan('config')) seen.push(item.pk);
    expect(seen.sort()).toEqual(keys);
  });

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

const variables = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
} as const;

describe('a client without an endpoint of its own', () => {
  let tables: TestStore;
  let former: Record<string, string | undefined>;
  beforeEach(async () => {
    tables = await startTestStore();
    former = { ...process.env };
    Object.assign(process.env, variables, { AWS_ENDPOINT_URL_DYNAMODB: tables.endpoint });
  });
  afterEach(async () => {
    process.env = former;
    await tables.stop();
  });

  it('reaches its tables with the credentials of the process, as a deployed function does', async () => {
    await tables.store.put({ table: 'config', item: { pk: 'here', value: 1 } });
    const client = createDynamoClient();
    const store = createDynamoStore({ client, stage: tables.stage });
    expect(await store.get('config', 'here')).toEqual({ pk: 'here', value: 1 });
    client.destroy();
  });
});
