// Runs checkpoints in a thread with a connection of its own, because a checkpoint syncs the disk. Until a checkpoint
// copies writes into the file, they are in the log next to it.
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** Pages of the log after which a checkpoint is made: 4 MiB, as in SQLite's own checkpoints. */
const pagesPerCheckpoint = 1_000;

/** The worker's file is next to this one in the package too. */
const workerFile = join(import.meta.dirname, `checkpoint-worker${extname(import.meta.filename)}`);
/** Memory of the thread; its connection is outside its heap. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

/** Settings that the thread needs. The thread imports nothing else of the gateway, so it stays small. */
export interface CheckpointFile {
  readonly path: string;
  readonly formatVersion: number;
}

interface Checkpoints {
  /** Reports that pages were committed. */
  note(pages: number): void;
  close(): Promise<void>;
}

/**
 * Creates the checkpoints. If one fails, for example on a full disk, the log grows until a checkpoint succeeds, and
 * nothing is lost.
 */
export function createCheckpoints(file: CheckpointFile): Checkpoints {
  let pages = 0;
  let isRunning = false;
  let worker: Worker | undefined;

  function start(): Worker {
    // Node writes on the standard error of each thread that SQLite is experimental; the thread itself writes nothing
    // there.
    const started = new Worker(workerFile, { workerData: file, resourceLimits, stderr: true });
    // Neither a checkpoint nor its thread keeps the process running.
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
        // The process may have no more threads. The next checkpoint is tried after as many pages.
      }
    },
    async close() {
      await worker?.terminate();
    },
  };
}
