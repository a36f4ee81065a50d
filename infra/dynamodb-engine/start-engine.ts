// Starts a DynamoDB in memory that several processes of one test or one measurement share. It listens on a port of this
// machine, and requires no credential, so it must contain nothing of importance.
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { spawnBoundChild } from '../local/bound-child.ts';
import { freePort, loopback } from '../local/free-port.ts';

/** Maximum number of ports to try, because another process may take a free port before the server does. */
const portsTriedMax = 5;
/** Time limit, far above the 10 ms after which it usually answers. */
const startTimeoutMs = 10_000;
/**
 * Maximum length of the messages that are stored while the engine starts, which is enough for its one line of error.
 */
const messagesMaxLength = 2_000;
/**
 * The engine has one thread, because its store serves one call at a time, and each hand-over between threads costs as
 * much as a tenth of a call.
 */
const env = { TOKIO_WORKER_THREADS: '1' };

interface DynamoEngine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface EngineOptions {
  /**
   * JSON file with descriptions of tables, as DescribeTable answers them. The engine creates these tables when it
   * starts.
   */
  readonly tablesFile?: string;
}

/** Returns the binary that was installed with this project; undefined when this platform has none. */
function engineProgram(): string | undefined {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    return undefined;
  }
}

export const isEngineInstalled = (): boolean => existsSync(engineProgram() ?? '');

/** Starts the engine. Resolves once it accepts connections. */
export async function startDynamoEngine({ tablesFile }: EngineOptions = {}): Promise<DynamoEngine> {
  const program = engineProgram();
  if (program === undefined) throw new Error(`no DynamoDB engine is installed for ${process.platform}-${process.arch}`);
  const tables = tablesFile === undefined ? [] : ['--schema', tablesFile];
  for (let tried = 1; ; tried += 1) {
    const port = await freePort();
    const { process: child, stop } = spawnBoundChild(
      program,
      ['serve', '--host', loopback, '--port', String(port), ...tables],
      { env },
    );
    const failure = await whyNotStarted(child);
    if (failure === undefined) return { endpoint: `http://${loopback}:${port}`, stop };
    await stop();
    if (tried === portsTriedMax || !failure.includes('already in use'))
      throw new Error(`the DynamoDB engine did not start: ${failure}`);
  }
}

/** Starts an engine, or returns the engine that serves at the URL and is not stopped. */
export const openDynamoEngine = async (url?: string): Promise<DynamoEngine> =>
  url === undefined ? startDynamoEngine() : { endpoint: url, stop: async () => {} };

/**
 * Returns the reason why the engine did not start, or undefined once it serves. Only a message of the engine proves
 * this. A connection proves nothing, because another process may have taken the port.
 */
async function whyNotStarted(child: ChildProcess): Promise<string | undefined> {
  let messages = '';
  const timeout = new AbortController();
  try {
    return await new Promise<string | undefined>((resolve) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        messages = (messages + chunk.toString()).slice(-messagesMaxLength);
        if (messages.includes('listening on')) resolve(undefined);
      });
      child.once('error', (error) => resolve(error.message));
      child.once('close', () => resolve(messages.trim().split('\n').at(-1) || 'it ended at once'));
      void sleep(systemClock, startTimeoutMs, timeout.signal).then(() =>
        resolve(`no answer within ${startTimeoutMs / 1_000} s`),
      );
    });
  } finally {
    timeout.abort();
  }
}
