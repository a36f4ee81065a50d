// Writes are in the log beside the file until a checkpoint copies them into it. That syncs the disk, so a thread with a
// connection of its own does it.
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** A log of 4 MiB, as SQLite's own checkpoints have it. */
const pagesPerCheckpoint = 1_000;

/** Beside this file in the package too. */
const workerFile = join(import.meta.dirname, `checkpoint-worker${extname(import.meta.filename)}`);
/** A connection lies outside the heap of its thread. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

/** A thread that imports nothing of ours is small. */
export interface CheckpointFile {
  readonly path: string;
  readonly formatVersion: number;
}

interface Checkpoints {
  /** Some pages were committed. */
  note(pages: number): void;
  close(): Promise<void>;
}

/** Where one fails, as on a full disk, the log grows until one succeeds: nothing is lost. */
export function createCheckpoints(file: CheckpointFile): Checkpoints {
  let pages = 0;
  let isRunning = false;
  let worker: Worker | undefined;

  function start(): Worker {
    // Node writes on the standard error of each thread that SQLite is experimental, and the thread writes nothing else.
    const started = new Worker(workerFile, { workerData: file, resourceLimits, stderr: true });
    // Neither a checkpoint nor its thread keeps the process.
    started.unref();
    started.on('message', () => {
      isRunning = false;
    });
    started.on('error', () => {});
    started.on('exit', () => {
      worker = undefined;
      isRunning = false;
    });
    return started;
  }

  return {
    note(written) {
      pages += written;
      if (isRunning || pages < pagesPerCheckpoint) return;
      pages = 0;
      try {
        worker ??= start();
        worker.postMessage('checkpoint');
        isRunning = true;
      } catch {
        // A process that may have no more threads: the next one is tried after as many pages.
      }
    },
    async close() {
      await worker?.terminate();
    },
  };
}
