// The DynamoDB of a local run and of the tests: a small server in a child process, in memory or on disk. Other files know
// its endpoint only.
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { type BoundChild, hasEnded, spawnBoundChild } from './bound-child.ts';
import { makePrivate } from './private-folder.ts';

const host = '127.0.0.1';
const databaseFile = 'gw.sqlite';
/** The binary answers after some 10 ms; npx may have to download it first. */
const binaryStartTimeoutMs = 10_000;
const npxStartTimeoutMs = 60_000;
/** A free port may be taken by another process before the server has it. */
const portsTriedMax = 5;
/** What is kept of the server's output while it starts: enough for its one line of error. */
const outputMaxLength = 2_000;

export interface EmbeddedDynamo {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly startTimeoutMs: number;
}

/**
 * Starts the server and resolves once it takes connections. With `dataDir` its tables are kept there. Throws an Error
 * whose message is one line for the person at the terminal.
 */
export async function startEmbeddedDynamo(options: {
  readonly dataDir?: string | undefined;
  readonly log: (line: string) => void;
}): Promise<EmbeddedDynamo> {
  const { dataDir, log } = options;
  const storage = dataDir === undefined ? [] : ['--db-path', join(ensureFolder(dataDir), databaseFile)];
  const server = installedBinary() ?? viaNpx();
  if (server.command === 'npx') log('the embedded DynamoDB is not installed for this platform: starting it with npx');
  for (let tried = 1; ; tried += 1) {
    const port = await freePort();
    const args = [...server.args, 'serve', '--host', host, '--port', String(port), ...storage];
    const child = spawnBoundChild(server.command, args);
    const failure = await whyNotStarted(child, server.startTimeoutMs);
    if (failure === undefined) return running(child, `http://${host}:${port}`, log);
    await child.stop();
    if (failure.includes('already in use') && tried < portsTriedMax) continue;
    // npm explains itself over many lines, and the last one is not the reason.
    const reason = server.command === 'npx' ? 'npx could not fetch or run it' : failure;
    throw new Error(`the embedded DynamoDB did not start (${reason}); pass --dynamodb URL of a running one`);
  }
}

function ensureFolder(path: string): string {
  try {
    makePrivate(path, databaseFile);
    return path;
  } catch (error) {
    throw new Error(`the folder ${path} cannot be used for data (${(error as Error).message})`);
  }
}

function installedBinary(): ServerCommand | undefined {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return { command: join(folder, 'dynoxide'), args: [], startTimeoutMs: binaryStartTimeoutMs };
  } catch {
    return undefined;
  }
}

const viaNpx = (): ServerCommand => ({
  command: 'npx',
  args: ['--yes', 'dynoxide@1.2.1'],
  startTimeoutMs: npxStartTimeoutMs,
});

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, host);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/**
 * Undefined once the server writes that it listens. Its output counts and not a connection: another process may have taken
 * the port.
 */
async function whyNotStarted({ process: child }: BoundChild, timeoutMs: number): Promise<string | undefined> {
  let output = '';
  const timeout = new AbortController();
  const outcome = new Promise<string | undefined>((resolve) => {
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-outputMaxLength);
      if (output.includes('listening on')) resolve(undefined);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(lastLine(output) ?? 'it ended at once'));
    void sleep(systemClock, timeoutMs, timeout.signal).then(() => resolve(`no answer within ${timeoutMs / 1000} s`));
  });
  try {
    return await outcome;
  } finally {
    timeout.abort();
  }
}

const lastLine = (text: string): string | undefined => text.trim().split('\n').at(-1)?.trim() || undefined;

function running(child: BoundChild, endpoint: string, log: (line: string) => void): EmbeddedDynamo {
  let stopping = false;
  const reportEnd = () => {
    if (!stopping) log('the embedded DynamoDB has ended unexpectedly');
  };
  if (hasEnded(child.process)) reportEnd();
  else child.process.once('exit', reportEnd);
  return {
    endpoint,
    async stop() {
      stopping = true;
      await child.stop();
    },
  };
}
