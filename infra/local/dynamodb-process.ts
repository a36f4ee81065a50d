// The process of the DynamoDB engine: which program it is, what it knows, and whether it has started.
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { type BoundChild, hasEnded, spawnBoundChild, variablesOf } from './bound-child.ts';
import { makePrivate } from './private-folder.ts';

const databaseFile = 'gw.sqlite';
/** The binary answers after some 10 ms; npx may have to download it first. */
const binaryStartTimeoutMs = 10_000;
const npxStartTimeoutMs = 60_000;
/** What is kept of the engine's messages while it starts: enough for its one line of error. */
const messagesMaxLength = 2_000;
/** What npx needs to find, fetch and run a package. No variable that may hold the key of a provider. */
/** One thread: its store takes one call at a time, and each hand-over between threads costs as much as a tenth of a call. */
const engineVariables = { TOKIO_WORKER_THREADS: '1' };
const npxVariables = ['PATH', 'HOME', 'HTTPS_PROXY', 'https_proxy', 'npm_config_registry', 'NODE_EXTRA_CA_CERTS'];

export interface EngineOptions {
  /** The folder of its tables. Left out: they are kept in memory. */
  readonly dataDir?: string | undefined;
  /** False: the folder holds tables, and neither it nor the modes of its files are touched. Default true. */
  readonly makesPrivate?: boolean;
  readonly log: (line: string) => void;
}

/** Whether a gateway has kept its tables there. */
export const hasTables = (folder: string): boolean => existsSync(join(folder, databaseFile));

interface EngineStart extends EngineOptions {
  readonly args: readonly string[];
  /** Resolves once the process serves. */
  readonly untilReady: (process: ChildProcess) => Promise<unknown>;
}

/** Throws an Error whose message is one line for the person at the terminal. */
export async function startEngine(start: EngineStart): Promise<BoundChild> {
  const { args, dataDir, makesPrivate = true, log, untilReady } = start;
  if (dataDir !== undefined && makesPrivate) ensureFolder(dataDir);
  const storage = dataDir === undefined ? [] : ['--db-path', join(dataDir, databaseFile)];
  const { command, args: commandArgs, env, startTimeoutMs } = installedBinary() ?? viaNpx();
  const isNpx = command === 'npx';
  if (isNpx) log('the embedded DynamoDB is not installed for this platform: starting it with npx');
  const child = spawnBoundChild(command, [...commandArgs, ...args, ...storage], { env, reads: true });
  const failure = await whyNotStarted(child.process, untilReady, startTimeoutMs);
  if (failure === undefined) return reportEnd(child, log);
  await child.stop();
  // npm explains itself over many lines, and the last one is not the reason.
  const reason = isNpx ? 'npx could not fetch or run it' : failure;
  throw new Error(`the embedded DynamoDB did not start (${reason}); pass --dynamodb URL of a running one`);
}

function ensureFolder(path: string): void {
  try {
    makePrivate(path, databaseFile);
  } catch (error) {
    throw new Error(`the folder ${path} cannot be used for data (${(error as Error).message})`);
  }
}

function installedBinary() {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    return { command: join(folder, 'dynoxide'), args: [], env: engineVariables, startTimeoutMs: binaryStartTimeoutMs };
  } catch {
    return undefined;
  }
}

const viaNpx = () => ({
  command: 'npx',
  args: ['--yes', 'dynoxide@1.2.1'],
  env: variablesOf(npxVariables),
  startTimeoutMs: npxStartTimeoutMs,
});

/** Undefined once the process serves. */
async function whyNotStarted(
  child: ChildProcess,
  untilReady: EngineStart['untilReady'],
  timeoutMs: number,
): Promise<string | undefined> {
  let messages = '';
  const timeout = new AbortController();
  const outcome = new Promise<string | undefined>((resolve) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      messages = (messages + chunk.toString()).slice(-messagesMaxLength);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', () => resolve(lastLine(messages) ?? 'it ended at once'));
    void sleep(systemClock, timeoutMs, timeout.signal).then(() => resolve(`no answer within ${timeoutMs / 1000} s`));
    untilReady(child).then(
      () => resolve(undefined),
      // The process has ended: `close` tells why.
      () => {},
    );
  });
  try {
    return await outcome;
  } finally {
    timeout.abort();
  }
}

const lastLine = (text: string): string | undefined => text.trim().split('\n').at(-1)?.trim() || undefined;

function reportEnd(child: BoundChild, log: (line: string) => void): BoundChild {
  let isStopping = false;
  const report = () => {
    if (!isStopping) log('the embedded DynamoDB has ended unexpectedly');
  };
  if (hasEnded(child.process)) report();
  else child.process.once('exit', report);
  return {
    process: child.process,
    async stop() {
      isStopping = true;
      await child.stop();
    },
  };
}
