// Runs several processes behind one port. This process, the main process, prepares the store and prints the start's
// lines; the other processes serve. The main process accepts the connections and distributes them in turn
// (node:cluster), equally many to each. With a socket per process (SO_REUSEPORT) the kernel would distribute them by
// chance, and only on Linux.
import cluster, { type Worker } from 'node:cluster';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { type Clock, sleep, systemClock, waitAtMost } from '../../shared/foundation/time/index.ts';
import type { StartOptions, Stop } from './open-composition.ts';

/** Message of a serving process to the main process. */
export type ServingMessage = { readonly port: number } | { readonly failure: string };
/** Message of the main process to a serving process, which must end after its calls. */
export const stopMessage = 'stop';

/** The file is in the folder of this file in the package too. */
const servingFile = join(import.meta.dirname, `serving-process${extname(import.meta.filename)}`);
/** A serving process takes eight seconds at most, and the complete stop nine. */
const stopMaxMs = 8_500;
/** A process that served for a shorter time is replaced later, because the cause may end its replacement too. */
const shortLifeMs = 10_000;
const pauseAfterShortLifeMs = 1_000;

/**
 * Limits the number of processes to the number of processors, because further processes would only compete for them.
 */
export function countProcesses(wanted = 1): { readonly count: number; readonly note?: string } {
  const processors = availableParallelism();
  if (wanted <= processors) return { count: wanted };
  return { count: processors, note: `note: --processes ${wanted} is ${processors} here, one for each processor` };
}

/**
 * Creates the folder that the processes share. If no folder is named, the folder is temporary, and is removed with the
 * processes.
 */
export function withOwnFolder(options: StartOptions, started: Stop[]): ServingOptions {
  if (options.data !== undefined || options.dynamodb !== undefined) return options;
  const ownFolder = mkdtempSync(join(tmpdir(), 'gw-processes-'));
  started.push(() => removeFolder(ownFolder));
  return { ...options, data: ownFolder, ownFolder };
}

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });

export interface ServingOptions extends StartOptions {
  /** Folder that is removed at the end. */
  readonly ownFolder?: string;
}

/**
 * Starts the processes. Resolves with the port once all of them serve. Throws an Error with one line for the terminal
 * if a process cannot serve.
 */
export async function startProcesses(
  count: number,
  options: ServingOptions,
  say: (line: string) => void,
  started: Stop[],
  clock: Clock = systemClock,
): Promise<number> {
  cluster.setupPrimary({ exec: servingFile, args: [JSON.stringify(options)] });
  const running = new Map<Worker, Promise<unknown>>();
  let isStopping = false;
  started.push(stop);
  const [port = 0] = await Promise.all(Array.from({ length: count }, start));
  return port;

  /** Starts a process. Resolves with the port. */
  function start(): Promise<number> {
    const startedAtMs = clock.nowMs();
    const worker = cluster.fork();
    const start = Promise.withResolvers<number>();
    let hasServed = false;
    worker.once('message', (message: ServingMessage) => {
      if ('failure' in message) return start.reject(new Error(message.failure));
      hasServed = true;
      start.resolve(message.port);
    });
    const ended = endOf(worker).then((how) => {
      running.delete(worker);
      start.reject(new Error(`a process ended before it served (${how})`));
      if (hasServed && !isStopping) void replace(how, clock.nowMs() - startedAtMs);
    });
    running.set(worker, ended);
    return start.promise;
  }

  async function replace(how: string, livedMs: number): Promise<void> {
    say(`a process has ended (${how}): another takes its place`);
    for (let lifeMs = livedMs; !isStopping; lifeMs = 0) {
      if (lifeMs < shortLifeMs) await sleep(clock, pauseAfterShortLifeMs);
      if (isStopping) return;
      try {
        await start();
        return;
      } catch (error) {
        if (!isStopping) say(`it could not start: ${(error as Error).message}`);
      }
    }
  }

  async function stop(): Promise<void> {
    isStopping = true;
    for (const worker of running.keys()) if (worker.isConnected()) worker.send(stopMessage);
    const ended = Promise.all(running.values());
    await waitAtMost(clock, stopMaxMs, ended, () => {
      for (const worker of running.keys()) worker.process.kill('SIGKILL');
    });
    await ended;
  }
}

/**
 * Resolves with a description of the process's end. Never rejects, although a message to a dead process is an error of
 * the worker before its end.
 */
function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    // A process that was never started has no other end.
    worker.on('error', (error) => worker.process.pid ?? resolve(error.message));
  });
}
