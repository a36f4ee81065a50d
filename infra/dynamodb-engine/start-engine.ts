// A DynamoDB in memory that several processes of one test or one measurement share. It listens on a port of this machine,
// where it asks no caller for a credential: nothing that matters may be in it.
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { spawnBoundChild } from '../local/bound-child.ts';
import { freePort, loopback } from '../local/free-port.ts';

/** A free port may be taken by another process before the server has it. */
const portsTriedMax = 5;
/** Far above the 10 ms after which it usually answers. */
const startTimeoutMs = 10_000;
/** Length of its messages that is kept while it starts: enough for its one line of error. */
const messagesMaxLength = 2_000;
/** One thread: its store takes one call at a time, and each hand-over between threads costs as much as a tenth of a call. */
const env = { TOKIO_WORKER_THREADS: '1' };

interface DynamoEngine {
  readonly endpoint: string;
  stop(): Promise<void>;
}

interface EngineOptions {
  /** JSON file with descriptions of tables, as DescribeTable answers them: it makes them at its start. */
  readonly tablesFile?: string;
}

/** The binary that was installed with this project; undefined when there is none for this platform. */
function engineProgram(): string | undefined {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    return undefined;
  }
}

export const isEngineInstalled = (): boolean => existsSync(engineProgram() ?? '');

/** Resolves once it takes connections. */
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

/** Undefined once it serves. Its message counts and not a connection: another process may have taken the port. */
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
