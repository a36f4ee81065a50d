// On a real engine: what a condition promises cannot be shown on a fake.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '#jest';
import {
  atMost,
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
      changes: { add: { n: 1n } },
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
    const update = { table: 'keys', key: 'compare', changes: { set: { seen: true } } } as const;
    const refused = await test.store.update({ ...update, condition: atMost('n', 2n ** 53n) });
    expect(refused.kind).toBe('refused');
    const written = await test.store.update({ ...update, condition: atMost('n', 2n ** 53n + 1n) });
    expect(written.kind).toBe('written');
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
