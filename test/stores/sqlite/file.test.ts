// The file of a store: its owner, its readers, and how its log stays short.
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '#jest';
import { hasStoreFile, openSqliteStore, StoreFileRefused } from '../../../shared/storage/sqlite-store/index.ts';
import { absent, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { fileOf, holdSyncs, integrityOf, logSalt, look, openFolder, watchStatements } from './support.ts';

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe('a folder', () => {
  it('that is made, and each file of the store, are readable by their owner alone; one that was there keeps its mode', async () => {
    const parentFolder = temporaryFolder();
    chmodSync(parentFolder, 0o755);
    for (const folder of [join(parentFolder, 'made', 'here'), parentFolder]) {
      const { store, close } = await openFolder({ folder });
      await store.put({ table: 'keys', item: { pk: 'k' } });
      const files = readdirSync(folder).filter((name) => name.startsWith('gw.sqlite'));
      expect(files.sort()).toEqual(['gw.sqlite', 'gw.sqlite-shm', 'gw.sqlite-wal']);
      for (const name of files) expect(modeOf(join(folder, name))).toBe('600');
      await close();
    }
    expect([modeOf(join(parentFolder, 'made')), modeOf(parentFolder)]).toEqual(['700', '755']);
  });

  it('whose files were copied with other modes is closed to others again', async () => {
    const { folder, close } = await openFolder();
    await close();
    chmodSync(fileOf(folder), 0o644);
    const again = await openFolder({ folder });
    expect(modeOf(fileOf(folder))).toBe('600');
    await again.close();
  });

  it('keeps its items over a restart, and holds one file then', async () => {
    expect(hasStoreFile(temporaryFolder())).toBe(false);
    const { folder, store, close } = await openFolder();
    expect(hasStoreFile(folder)).toBe(true);
    await store.put({ table: 'ledger', item: { pk: 'a', n: 10n ** 37n } });
    await close();
    expect(readdirSync(folder)).toEqual(['gw.sqlite']);
    const again = await openFolder({ folder });
    expect(await again.store.get('ledger', 'a')).toEqual({ pk: 'a', n: 10n ** 37n });
    await again.close();
  });

  it('is opened by several at the same time, even if none of them has made it yet', async () => {
    const folder = temporaryFolder();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openFolder({ folder })));
    await Promise.all(
      stores.map(({ store }) => store.update({ table: 'ledger', key: 'a', changes: { add: { n: 1 } } })),
    );
    expect((await stores[0]?.store.get('ledger', 'a'))?.n).toBe(4);
    await Promise.all(stores.map(({ close }) => close()));
    expect(integrityOf(folder)).toBe('ok');
  });
});

it('a damaged file is named to the operator, by the error of the call that meets it', async () => {
  const { folder, close } = await openFolder();
  await close();
  const bytes = readFileSync(fileOf(folder));
  // Opening the file reads the schema on the first page, so only the bytes after that page are damaged.
  bytes.fill(0xa5, 4_096);
  writeFileSync(fileOf(folder), bytes);
  const otherStore = await openSqliteStore({ folder });
  const error: unknown = await otherStore.store.get('config', 'any').catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect((error as Error).cause).toMatchObject({
    name: 'StoreFileRefused',
    message: `${fileOf(folder)} is damaged: stop what uses the folder, and restore a copy of it`,
  });
  await otherStore.close();
});

describe('what is no store of ours is refused in one line and left as it is', () => {
  const withFile = (make: (path: string) => void): string => {
    const folder = temporaryFolder();
    make(fileOf(folder));
    return folder;
  };
  const database = (sql: string) => (path: string) => {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  };
  const newer = async () => {
    const { folder, close } = await openFolder();
    await close();
    database('PRAGMA user_version = 99')(fileOf(folder));
    return folder;
  };

  it.each([
    [
      'no database',
      () => withFile((path) => writeFileSync(path, 'a text '.repeat(1_000))),
      /was made by another program/,
    ],
    [
      'a database of another program',
      () => withFile(database('CREATE TABLE notes (text)')),
      /was made by another program/,
    ],
    [
      'a file of the engine of earlier builds',
      () => withFile(database('CREATE TABLE _tables (name)')),
      /build before 0\.1\.0: run that build's/,
    ],
    ['a file of a newer release', newer, /was made by a newer release/],
  ])('%s', async (_what, make, line) => {
    const folder = await make();
    const before = readFileSync(fileOf(folder));
    const refusal = await openSqliteStore({ folder }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StoreFileRefused);
    expect((refusal as Error).message).toMatch(line);
    expect((refusal as Error).message).not.toContain('\n');
    expect(readFileSync(fileOf(folder)).equals(before)).toBe(true);
    expect(readdirSync(folder)).toEqual(['gw.sqlite']);
  });

  it.each([
    ['a file in place of the folder', (path: string) => writeFileSync(path, '')],
    ['a folder in place of the file', (path: string) => mkdirSync(fileOf(path), { recursive: true })],
  ])('%s', async (_what, make) => {
    const path = join(temporaryFolder(), 'data');
    make(path);
    const refusal = await openSqliteStore({ folder: path }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(StoreFileRefused);
    expect((refusal as Error).message).toMatch(/^the folder .* cannot be used for data \([^\n]+\)$/);
  });
});

describe('the log of writes', () => {
  it('is brought into the file by a thread: this one makes no checkpoint, and closes with nothing left in the log', async () => {
    const statements = watchStatements();
    const { folder, store, close } = await openFolder();
    await store.put({ table: 'cache', item: { pk: 'first' } });
    const salt = logSalt(folder);
    let writtenItems = 0;
    while (logSalt(folder) === salt) {
      writtenItems += 1;
      await store.put({ table: 'cache', item: { pk: `${writtenItems}`, text: 'x'.repeat(50_000) } });
    }
    statements.stop();
    expect(statements.connections.size).toBe(1);
    for (const connection of statements.connections)
      expect(connection.prepare('PRAGMA wal_autocheckpoint').get()).toEqual({ wal_autocheckpoint: 0 });
    expect(statements.texts.filter((text) => text.includes('wal_checkpoint'))).toEqual([]);
    // The thread's write at the start of a new log causes another read of the cached items, and nothing else.
    for (let key = 1; key <= writtenItems; key += 1) expect(await store.get('cache', `${key}`)).toBeDefined();
    await close();
    expect(integrityOf(folder)).toBe('ok');
    expect(look(folder, (database) => database.prepare('SELECT count(*) AS n FROM cache').get()?.n)).toBe(
      writtenItems + 1,
    );
  });

  it('of a durable store is on the disk before a write is answered, one sync for all that wait, and the loop turns meanwhile', async () => {
    const syncs = await holdSyncs();
    const { folder, store, close } = await openFolder({ isDurable: true });
    const answers: string[] = [];
    const put = (pk: string) => store.put({ table: 'keys', item: { pk } }).then(() => answers.push(pk));
    const first = put('first');
    await syncs.begun();
    const others = ['second', 'third'].map(async (pk) => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      await put(pk);
    });
    // Other processes see the items, and this process answers reads.
    while ((await store.get('keys', 'third')) === undefined)
      await new Promise<void>((resolve) => setImmediate(resolve));
    expect(look(folder, (database) => database.prepare('SELECT count(*) AS n FROM keys').get()?.n)).toBe(3);
    expect(answers).toEqual([]);
    syncs.release();
    await first;
    await Promise.all(others);
    expect(answers).toEqual(['first', 'second', 'third']);
    expect(syncs.count()).toBe(2);
    await expect(store.put({ table: 'keys', item: { pk: 'first' }, condition: absent('pk') })).resolves.toMatchObject({
      kind: 'refused',
    });
    expect(syncs.count()).toBe(2);
    await close();
    syncs.stop();
  });

  it('that the disk did not take once ends all writes of a durable store, and reads go on: no later sync says what was lost', async () => {
    const { folder, store, close } = await openFolder({ isDurable: true });
    const put = (pk: string) => store.put({ table: 'keys', item: { pk } }).catch((error: unknown) => error);
    expect(await put('before')).toMatchObject({ kind: 'written' });
    const syncs = await holdSyncs();
    const inSync = put('in-sync');
    await syncs.begun();
    const meanwhile = put('meanwhile');
    while ((await store.get('keys', 'meanwhile')) === undefined)
      await new Promise<void>((resolve) => setImmediate(resolve));
    syncs.release(new Error('EIO'));
    const outcomes = [await inSync, await meanwhile, await put('after')];
    syncs.stop();
    outcomes.push(await put('later'));
    for (const outcome of outcomes) {
      expect(outcome).toBeInstanceOf(StoreUnavailable);
      expect((outcome as Error).cause).toMatchObject({ message: expect.stringContaining('until a new start') });
    }
    expect(await store.get('keys', 'before')).toEqual({ pk: 'before' });
    await close();
    expect(look(folder, (database) => database.prepare('SELECT pk FROM keys ORDER BY pk').all())).toEqual(
      ['before', 'in-sync', 'meanwhile'].map((pk) => ({ pk })),
    );
    const again = await openFolder({ folder, isDurable: true });
    expect(await again.store.put({ table: 'keys', item: { pk: 'after' } })).toMatchObject({ kind: 'written' });
    await again.close();
  });
});

describe('a store that is closed', () => {
  it('has done what was asked for before, and refuses what is asked for then', async () => {
    const { folder, store, close } = await openFolder();
    const before = store.put({ table: 'keys', item: { pk: 'before' } });
    const closing = close();
    expect(await before).toMatchObject({ kind: 'written' });
    await closing;
    await expect(store.get('keys', 'before')).rejects.toThrow(StoreUnavailable);
    await expect(store.put({ table: 'keys', item: { pk: 'after' } })).rejects.toThrow(StoreUnavailable);
    expect(look(folder, (database) => database.prepare('SELECT pk FROM keys').all())).toEqual([{ pk: 'before' }]);
  });
});
