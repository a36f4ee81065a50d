import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from '#jest';
import { createTables } from '../../infra/local/create-tables.ts';
import { startPrivateDynamo } from '../../infra/local/private-dynamodb.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import {
  absent,
  createDynamoClient,
  createDynamoStore,
  type DynamoClientOptions,
  exists,
  type Item,
  less,
  or,
} from '../../shared/storage/store/index.ts';
import { patientCallTimeoutMs } from '../support/dynamodb.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(dataDir?: string) {
  const lines: string[] = [];
  const server = await startPrivateDynamo({ dataDir, log: (line) => lines.push(line) });
  cleanups.push(server.stop);
  return { server, lines, ...open(server.access) };
}

function open(access: DynamoClientOptions) {
  const client = createDynamoClient(access);
  cleanups.push(() => client.destroy());
  return { client, store: createDynamoStore({ client, stage: 'test', callTimeoutMs: patientCallTimeoutMs }) };
}

/** Process ids that run the engine for a process; on one folder, where it is named: other tests run theirs at the same time. */
const enginesOf = (parent: number, folder = ''): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const { name, parentId } = statusOf(pid);
      return name === 'dynoxide' && parentId === parent && commandOf(pid).includes(folder);
    });

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function statusOf(pid: number): { name?: string | undefined; parentId?: number } {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8');
    return { name: /^Name:\t(.*)$/m.exec(text)?.[1], parentId: Number(/^PPid:\t(\d+)$/m.exec(text)?.[1]) };
  } catch {
    return {};
  }
}

/** Sockets of a process, of every kind. */
const socketsOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`)
    .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
    .filter((target) => target.startsWith('socket:'))
    .map((target) => target.slice('socket:['.length, -1));

/** Inodes of the sockets that wait for connections: TCP, and of the file system. */
function listeningSockets(): Set<string> {
  const rows = (file: string) => readFileSync(file, 'utf8').trim().split('\n').slice(1);
  const columns = (file: string) => rows(file).map((row) => row.trim().split(/\s+/));
  const tcp = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(columns).filter((row) => row[3] === '0A');
  const unix = columns('/proc/net/unix').filter((row) => (Number.parseInt(row[3] ?? '', 16) & 0x10000) !== 0);
  return new Set([...tcp.map((row) => row[9] ?? ''), ...unix.map((row) => row[6] ?? '')]);
}

async function all(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** True when the process is gone within ten seconds, looked at every 50 ms. */
async function ends(pid: number): Promise<boolean> {
  for (let look = 0; look < 200; look += 1) {
    if (statusOf(pid).name !== 'dynoxide') return true;
    await sleep(systemClock, 50);
  }
  return false;
}

describe('the store of a local run', () => {
  it('listens nowhere, so that nobody but the process that started it can call it', async () => {
    const folder = temporaryFolder();
    const { client, store } = await start(folder);
    await createTables(client, 'test');
    await store.put({ table: 'keys', item: { pk: 'mine' } });
    const [engine = 0, ...others] = enginesOf(process.pid, folder);
    expect(others).toEqual([]);
    const listening = listeningSockets();
    expect(socketsOf(engine).filter((inode) => listening.has(inode))).toEqual([]);
    expect(await store.get('keys', 'mine')).toEqual({ pk: 'mine' });
  });

  it('is given no variable of the process, and so no key of a provider', async () => {
    const folder = temporaryFolder();
    await start(folder);
    const [engine = 0] = enginesOf(process.pid, folder);
    expect(engine).not.toBe(0);
    expect(readFileSync(`/proc/${engine}/environ`, 'utf8')).toBe('TOKIO_WORKER_THREADS=1\0');
  });

  it('keeps its items on disk over a restart, and stops for good when told', async () => {
    const folder = join(temporaryFolder(), 'made', 'on-demand');
    const first = await start(folder);
    await createTables(first.client, 'test');
    await first.store.put({ table: 'keys', item: { pk: 'a', n: 10n ** 20n } });
    await first.server.stop();
    await first.server.stop();
    expect(enginesOf(process.pid, folder)).toEqual([]);
    await expect(first.store.get('keys', 'a')).rejects.toThrow();
    expect(first.lines).toEqual([]);
    const second = await start(folder);
    await createTables(second.client, 'test');
    expect(await second.store.get('keys', 'a')).toEqual({ pk: 'a', n: 10n ** 20n });
  });

  it('tells of twenty refused writes at once which item refused them', async () => {
    const { client, store } = await start();
    await createTables(client, 'test');
    const put = (n: number) =>
      store.put({
        table: 'keys',
        item: { pk: 'a', n },
        condition: or(absent('pk'), less('n', n)),
      });
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => put(20 - index)));
    expect(results[0]).toEqual({ kind: 'written', item: { pk: 'a', n: 20 } });
    for (const refused of results.slice(1)) expect(refused).toEqual({ kind: 'refused', item: { pk: 'a', n: 20 } });
    const update = { table: 'keys', key: 'none', changes: { set: { n: 1 } } } as const;
    expect(await store.update({ ...update, condition: exists('pk') })).toEqual({ kind: 'refused' });
  });

  it('takes writes that nothing can refuse together, and where one of them is wrong loses that one alone', async () => {
    const { client, store } = await start();
    await createTables(client, 'test');
    const add = (key: string, value: unknown) =>
      store.update({ table: 'statistics', key, changes: { add: { n: value as number } }, returnsNoItem: true });
    const record = { table: 'records', item: { pk: 'p', sk: '1', n: 1 } } as const;
    const write = async (value: unknown) =>
      (await Promise.allSettled([add('a', 1), add('b', value), store.batchPut([record])])).map(({ status }) => status);
    expect(await write(1)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(await write('no number')).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await store.get('statistics', 'a')).toEqual({ pk: 'a', n: 2 });
    expect(await store.get('statistics', 'b')).toEqual({ pk: 'b', n: 1 });
    expect(await all(store.query('records', 'p'))).toEqual([record.item]);
  });

  it('answers each of the writes of one turn with its own item; one that is refused leaves the others written once', async () => {
    const { client, store } = await start();
    await createTables(client, 'test');
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

  it('refuses a batch as DynamoDB does, also where the engine would take it in bulk', async () => {
    const { client, store } = await start();
    await createTables(client, 'test');
    const batch = (item: (index: number) => Item) =>
      store.batchPut(
        Array.from({ length: 5 }, (_, index) => ({ table: 'records', item: { pk: 'p', ...item(index) } })),
      );
    await expect(batch(() => ({ sk: 'same' }))).rejects.toThrow();
    await expect(batch((index) => ({ sk: `${index}`, text: 'x'.repeat(index * 150_000) }))).rejects.toThrow();
    expect(await all(store.scan('records'))).toEqual([]);
  });

  it('gives all items of a partition larger than one page, in their order, and of a scan', async () => {
    const { client, store } = await start();
    await createTables(client, 'test');
    const text = 'ü'.repeat(100_000);
    const items = Array.from({ length: 30 }, (_, index) => ({ pk: 'p', sk: String(index).padStart(2, '0'), text }));
    await store.batchPut(items.map((item) => ({ table: 'records', item })));
    expect(await all(store.query('records', 'p', { from: '05' }))).toEqual(items.slice(5));
    expect(await all(store.scan('records'))).toHaveLength(30);
    await store.put({ table: 'keys', item: { pk: 'gone' } });
    await store.delete('keys', 'gone');
    expect(await store.get('keys', 'gone')).toBeUndefined();
  });

  it('that ends unexpectedly is told, and every later call fails at once', async () => {
    const folder = temporaryFolder();
    const { client, store, lines } = await start(folder);
    await createTables(client, 'test');
    const [engine = 0] = enginesOf(process.pid, folder);
    process.kill(engine, 'SIGKILL');
    expect(await ends(engine)).toBe(true);
    await expect(store.get('keys', 'a')).rejects.toThrow();
    expect(lines).toEqual(['the embedded DynamoDB has ended unexpectedly']);
  });

  it('that cannot start says so in one line, with the way out', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'gw.sqlite'));
    const failure = await startPrivateDynamo({ dataDir: folder, log: () => {} }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toContain('--dynamodb URL');
    expect(message).not.toContain('\n');
  });

  it('ends when the process that started it is killed', async () => {
    const module = new URL('../../infra/local/private-dynamodb.ts', import.meta.url).href;
    const program = `
      import { startPrivateDynamo } from ${JSON.stringify(module)};
      await startPrivateDynamo({ log: console.error });
      process.stdout.write('started');
      setInterval(() => {}, 1_000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanups.push(() => parent.kill('SIGKILL'));
    await once(parent.stdout, 'data');
    const [engine = 0] = enginesOf(parent.pid as number);
    expect(engine).not.toBe(0);
    parent.kill('SIGKILL');
    expect(await ends(engine)).toBe(true);
  });
});

describe('the tables', () => {
  it('are created once by several processes at the same time, with their time to live', async () => {
    const { client, store } = await start();
    await Promise.all(Array.from({ length: 5 }, () => createTables(client, 'test')));
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName: 'gw-test-config' }));
    expect(TimeToLiveDescription).toMatchObject({
      TimeToLiveStatus: 'ENABLED',
      AttributeName: 'expires_at_epoch_seconds',
    });
    await store.put({ table: 'config', item: { pk: 'a' } });
    await createTables(client, 'test');
    expect(await store.get('config', 'a')).toEqual({ pk: 'a' });
  });
});
