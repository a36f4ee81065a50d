// The process of the DynamoDB engine: which program it is, what it knows, and whether it has started.
import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';
import { type BoundChild, hasEnded, spawnBoundChild } from './bound-child.ts';
import { makePrivate } from './private-folder.ts';

const databaseFile = 'gw.sqlite';
/** It answers after some 10 ms. */
const startTimeoutMs = 10_000;
/** What is kept of the engine's messages while it starts: enough for its one line of error. */
const messagesMaxLength = 2_000;
/** One thread: its store takes one call at a time, and each hand-over between threads costs as much as a tenth of a call. */
const engineVariables = { TOKIO_WORKER_THREADS: '1' };

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
  const child = spawnBoundChild(engineProgram(), [...args, ...storage], { env: engineVariables, reads: true });
  const failure = await whyNotStarted(child.process, untilReady, startTimeoutMs);
  if (failure === undefined) return reportEnd(child, log);
  await child.stop();
  throw new Error(`the embedded DynamoDB did not start (${failure}); pass --dynamodb URL of a running one`);
}

function ensureFolder(path: string): void {
  try {
    makePrivate(path, databaseFile);
  } catch (error) {
    throw new Error(`the folder ${path} cannot be used for data (${(error as Error).message})`);
  }
}

const lockedPlatform = 'linux-x64';
const version = '1.2.1';

/**
 * The path of the binary that was installed with this project, its hash checked against the lock file. Nothing is fetched
 * at a start. Throws an Error whose message is one line for the person at the terminal.
 */
export function engineProgram(platform = `${process.platform}-${process.arch}`): string {
  const name = `@dynoxide/${platform}`;
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'dynoxide');
  } catch {
    const install =
      platform === lockedPlatform
        ? 'npm ci, with optional dependencies'
        : `npm install --no-save ${name}@${version}, where there is such a package`;
    throw new Error(
      `the embedded DynamoDB is not installed for ${platform}: ${install}; or pass --dynamodb URL of a running one`,
    );
  }
}

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
