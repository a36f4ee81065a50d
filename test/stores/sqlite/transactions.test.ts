import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { openSqliteStore } from '../../../shared/storage/sqlite-store/index.ts';
import { openTransaction, StoreUnavailable, type TransactionItems } from '../../../shared/storage/store/index.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type FolderStore, look, openFolder, transactionsOf, watchStatements } from './support.ts';

let test: FolderStore;
beforeEach(async () => {
  test = await openFolder();
});
afterEach(() => test.close());

const addOne = (key: string) =>
  test.store.update({
    table: 'ledger',
    key,
    changes: { add: { n: 1 } },
    condition: { kind: 'not', of: { kind: 'atLeast', at: 'n', value: 10 } },
  });
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('what one turn of the event loop asks for', () => {
  it('is one transaction, each item in it written once', async () => {
    const count = await transactionsOf(test.folder, () =>
      Promise.all([
        ...Array.from({ length: 5 }, () => addOne('a')),
        addOne('b'),
        test.store.put({ table: 'keys', item: { pk: 'k' } }),
        test.store.batchPut([{ table: 'records', item: { pk: 'r', sk: '1' } }]),
        test.store.delete('keys', 'none'),
      ]),
    );
    expect(count).toBe(1);
    expect((await test.store.get('ledger', 'a'))?.n).toBe(5);
  });

  it('is evaluated in its order, each write on what those before it made', async () => {
    const results = await Promise.all(Array.from({ length: 12 }, () => addOne('a')));
    expect(results.map(({ kind }) => kind)).toEqual([...Array(10).fill('written'), 'refused', 'refused']);
    expect(results.at(-1)?.item).toEqual({ pk: 'a', n: 10 });
  });

  it('is answered after its commit: another process sees it by then', async () => {
    await addOne('a');
    const storedItem = look(test.folder, (database) =>
      database.prepare("SELECT item FROM ledger WHERE pk = 'a'").get(),
    );
    expect(storedItem?.item).toBe('{"pk":"a","n":1}');
  });

  it('leaves nothing in the file if all of it is refused', async () => {
    const refuse = () => test.store.put({ table: 'keys', item: { pk: 'k' }, condition: { kind: 'exists', at: 'pk' } });
    expect(await transactionsOf(test.folder, () => Promise.all([refuse(), refuse()]))).toBe(0);
  });

  it('loses of several writes only the one that is impossible', async () => {
    await test.store.put({ table: 'ledger', item: { pk: 'text', n: 'no number' } });
    const results = await Promise.allSettled([addOne('a'), addOne('text'), addOne('b')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(StoreUnavailable);
    expect([(await test.store.get('ledger', 'a'))?.n, (await test.store.get('ledger', 'b'))?.n]).toEqual([1, 1]);
  });

  it('of more than 500 writes is divided, and others have their turn in between', async () => {
    let turns = 0;
    let isDone = false;
    const counting = (async () => {
      for (; !isDone; turns += 1) await turn();
    })();
    const count = await transactionsOf(test.folder, () =>
      Promise.all(Array.from({ length: 1_200 }, (_, n) => addOne(`${n}`))),
    );
    isDone = true;
    await counting;
    expect(count).toBe(3);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

describe('a full disk', () => {
  it('fails the writes of a turn together, loses nothing before them, and is over when there is space', async () => {
    const statements = watchStatements();
    const full = await openFolder();
    statements.stop();
    const [connection] = statements.connections;
    const large = (key: string) =>
      full.store.put({ table: 'cache', item: { pk: key, text: 'x'.repeat(100_000) } }).catch((error: unknown) => error);
    await large('before');
    connection?.exec('PRAGMA max_page_count = 1');
    const small = full.store.put({ table: 'keys', item: { pk: 'with-it' } }).catch((error: unknown) => error);
    for (const outcome of await Promise.all([large('a'), large('b'), small])) {
      expect(outcome).toBeInstanceOf(StoreUnavailable);
      expect((outcome as { cause: Error }).cause.message).toBe('database or disk is full');
    }
    for (const key of ['a', 'b']) expect(await full.store.get('cache', key)).toBeUndefined();
    expect(await full.store.get('keys', 'with-it')).toBeUndefined();
    expect(await full.store.get('cache', 'before')).toBeDefined();
    connection?.exec('PRAGMA max_page_count = 100000');
    expect(await large('a')).toMatchObject({ kind: 'written' });
    await full.close();
  });
});

describe('items that are kept in memory', () => {
  it('are not read again while no other process wrote', async () => {
    await addOne('a');
    const first = await test.store.get('ledger', 'a');
    await addOne('b');
    expect(await test.store.get('ledger', 'a')).toBe(first);
  });

  it('are read again as soon as another process wrote, by reads and by conditions', async () => {
    await addOne('a');
    const other = await openFolder({ folder: test.folder });
    await other.store.put({ table: 'ledger', item: { pk: 'a', n: 9 } });
    expect((await test.store.get('ledger', 'a'))?.n).toBe(9);
    await other.store.put({ table: 'ledger', item: { pk: 'a', n: 10 } });
    expect((await addOne('a')).kind).toBe('refused');
    await other.close();
  });

  it('are none of a partition of many, however many are written: what every call reads stays', async () => {
    // The store is in memory: at a file, a checkpoint of the store's own thread counts as another process.
    const { store, close } = await openSqliteStore({ freezesItems: true });
    await store.put({ table: 'ledger', item: { pk: 'a', n: 1 } });
    const first = await store.get('ledger', 'a');
    const text = 'x'.repeat(60_000);
    for (let sk = 0; sk < 200; sk += 1)
      await store.batchPut([{ table: 'records', item: { pk: 'r', sk: `${sk}`, text } }]);
    expect(await store.get('ledger', 'a')).toBe(first);
    const record = () => store.get('records', 'r', { sortKey: '1' });
    expect(await record()).not.toBe(await record());
    await close();
  });

  it('share nothing with what a caller gave', async () => {
    const bytes = new Uint8Array([1]);
    const list = [1];
    await test.store.put({ table: 'keys', item: { pk: 'k', bytes, list } });
    await test.store.update({ table: 'keys', key: 'k', changes: { set: { more: list } } });
    bytes[0] = 2;
    list.push(2);
    expect(await test.store.get('keys', 'k')).toEqual({ pk: 'k', bytes: new Uint8Array([1]), list: [1], more: [1] });
  });
});

describe('expired items', () => {
  it('go with later writes, the oldest first, at most 50 at a time, and are not served from memory afterwards', async () => {
    const clock = manualClock(1_000_000);
    const { store, close } = await openSqliteStore({ clock, freezesItems: true });
    const put = (pk: string, expires: number) =>
      store.put({ table: 'cache', item: { pk, expires_at_epoch_seconds: expires } });
    await Promise.all(Array.from({ length: 60 }, (_, n) => put(`${n}`, 2_000 - n)));
    const itemCount = async () => {
      const keys: unknown[] = [];
      for await (const { pk } of store.scan('cache')) keys.push(pk);
      return keys.length;
    };
    clock.advance(1_001_000);
    await put('later', 10_000);
    expect(await itemCount()).toBe(11);
    expect(await store.get('cache', '59')).toBeUndefined();
    expect(await store.get('cache', '0')).toBeDefined();
    await put('later', 10_000);
    expect(await itemCount()).toBe(1);
    await close();
  });

  it('stay if a write of the same turn gives them a longer life', async () => {
    const clock = manualClock(1_000_000);
    const { store, close } = await openSqliteStore({ clock });
    const key = 'kept';
    const renew = (expires: number) =>
      store.update({ table: 'spans', key, changes: { set: { expires_at_epoch_seconds: expires }, add: { n: 1 } } });
    await renew(1_100);
    clock.advance(1_000_000);
    await renew(9_000);
    expect(await store.get('spans', key)).toMatchObject({ n: 2 });
    await close();
  });
});

describe('scans and queries', () => {
  it('read 100 items in a turn, or as many as fill a mebibyte', async () => {
    const put = (length: number, text: string) =>
      Array.from({ length }, (_, n) => ({
        table: 'records' as const,
        item: { pk: `p${n % 2}`, sk: `${n}`.padStart(4, '0'), text },
      }));
    const turnsOf = async (items: AsyncIterable<unknown>) => {
      const perTurn: number[] = [];
      let now = 0;
      let isOver = false;
      void (async () => {
        for (; !isOver; now += 1) await turn();
      })();
      for await (const _item of items) perTurn[now] = (perTurn[now] ?? 0) + 1;
      isOver = true;
      return perTurn.filter((count) => count > 0);
    };
    await test.store.batchPut(put(500, ''));
    expect(await turnsOf(test.store.scan('records'))).toEqual([100, 100, 100, 100, 100]);
    expect(await turnsOf(test.store.query('records', 'p0'))).toEqual([100, 100, 50]);
    await test.store.batchPut(put(10, 'x'.repeat(300_000)));
    expect(Math.max(...(await turnsOf(test.store.query('records', 'p0', { to: '0009' }))))).toBe(4);
  });
});

describe('writes of several callers in one transaction', () => {
  const open = () => {
    const { transact } = test.store;
    if (transact === undefined) throw new Error('this store has transactions');
    return openTransaction(transact);
  };
  const countUp = (key: string) => (items: TransactionItems) =>
    items.update({ table: 'ledger', key, changes: { add: { n: 1 } } });

  it('see each other, and each caller gets its own result after the commit', async () => {
    await addOne('a');
    const transaction = open();
    const results = Promise.all([
      transaction.add(countUp('a')),
      transaction.add((items) => items.get('ledger', 'a')?.n),
      transaction.add((items) => items.put({ table: 'records', item: { pk: 'r', sk: '1' } }).kind),
    ]);
    const committed = () => {
      transaction.commit();
      return results;
    };
    expect(await transactionsOf(test.folder, committed)).toBe(1);
    expect(await results).toEqual([{ kind: 'written', item: { pk: 'a', n: 2 } }, 2, 'written']);
  });

  it('are not made at all if one of them cannot be, and no other write of the turn is lost', async () => {
    await test.store.put({ table: 'ledger', item: { pk: 'text', n: 'no number' } });
    const beside = [addOne('a'), addOne('b')];
    const transaction = open();
    const results = ['a', 'new', 'text', 'b'].map((key) => transaction.add(countUp(key)));
    transaction.commit();
    const later = addOne('a');
    for (const one of await Promise.allSettled(results)) {
      expect(one).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailable) });
    }
    await Promise.all([...beside, later]);
    expect((await test.store.get('ledger', 'a'))?.n).toBe(2);
    expect((await test.store.get('ledger', 'b'))?.n).toBe(1);
    expect(await test.store.get('ledger', 'new')).toBeUndefined();
  });

  it('are refused once it has begun', async () => {
    const transaction = open();
    const result = transaction.add(countUp('a'));
    transaction.commit();
    expect(() => transaction.add(countUp('b'))).toThrow('begun');
    await result;
    expect(await test.store.get('ledger', 'b')).toBeUndefined();
  });
});
