import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEmbeddedDynamo } from '../../infra/local/embedded-dynamodb.ts';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { createDynamoClient, createDynamoStore } from '../../shared/storage/store/index.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gw-test-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function start(dataDir?: string) {
  const lines: string[] = [];
  const server = await startEmbeddedDynamo({ dataDir, log: (line) => lines.push(line) });
  cleanups.push(() => server.stop());
  const client = createDynamoClient({ endpoint: server.endpoint });
  cleanups.push(() => client.destroy());
  return { server, client, lines, store: createDynamoStore({ client, stage: 'test' }) };
}

async function isListening(endpoint: string): Promise<boolean> {
  const { hostname, port } = new URL(endpoint);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** True when the port is closed within ten seconds, looked at every 50 ms. */
async function closes(endpoint: string): Promise<boolean> {
  for (let look = 0; look < 200; look += 1) {
    if (!(await isListening(endpoint))) return true;
    await sleep(systemClock, 50, new AbortController().signal);
  }
  return false;
}

describe('the embedded DynamoDB', () => {
  it('keeps its items on disk over a restart, and stops for good when told', async () => {
    const folder = join(temporaryFolder(), 'made', 'on-demand');
    const first = await start(folder);
    await createTables(first.client, 'test');
    await first.store.put({ table: 'keys', item: { pk: 'a', n: 10n ** 20n } });
    await first.server.stop();
    await first.server.stop();
    expect(await isListening(first.server.endpoint)).toBe(false);
    expect(first.lines).toEqual([]);
    const second = await start(folder);
    await createTables(second.client, 'test');
    expect(await second.store.get('keys', 'a')).toEqual({ pk: 'a', n: 10n ** 20n });
  });

  it('runs many times at once, each with items of its own', async () => {
    const servers = await Promise.all([start(), start(), start(), start()]);
    expect(new Set(servers.map(({ server }) => server.endpoint)).size).toBe(4);
    await Promise.all(servers.map(({ client }) => createTables(client, 'test')));
    await servers[0]?.store.put({ table: 'keys', item: { pk: 'mine' } });
    expect(await servers[1]?.store.get('keys', 'mine')).toBeUndefined();
  });

  it('that cannot start says so in one line, with the way out', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'gw.sqlite'));
    const failure = await startEmbeddedDynamo({ dataDir: folder, log: () => {} }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toContain('--dynamodb URL');
    expect(message).not.toContain('\n');
  });

  it('ends when the process that started it is killed', async () => {
    const program = `
      import { startEmbeddedDynamo } from ${JSON.stringify(new URL('../../infra/local/embedded-dynamodb.ts', import.meta.url).href)};
      const { endpoint } = await startEmbeddedDynamo({ log: console.error });
      process.stdout.write(endpoint);
      setInterval(() => {}, 1_000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanups.push(() => parent.kill('SIGKILL'));
    const [endpoint] = await once(parent.stdout, 'data');
    expect(await isListening(String(endpoint))).toBe(true);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    expect(await closes(String(endpoint))).toBe(true);
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
