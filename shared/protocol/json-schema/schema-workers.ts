// Starts threads for schema work that would block the event loop. There are few threads, and one job at a time for each
// key; keys take turns.
import { extname, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { fail } from '../../errors/index.ts';
import { systemClock, waitAtMost } from '../../foundation/time/index.ts';
import { waitingJobsPerKeyMax, workerJobMaxMs, workersMax } from './schema-bounds.ts';

/** A job, which is sent to a worker as JSON text. */
export type SchemaJob = { readonly schema: unknown; readonly maxMs: number } & (
  | { readonly kind: 'schema' }
  | { readonly kind: 'answer'; readonly answer: string }
  | { readonly kind: 'value'; readonly value: unknown }
);

interface JobResult {
  readonly value: unknown;
  readonly tookMs: number;
}
export type WorkerReply = JobResult | { readonly error: string };

/** Bundles and the package contain it next to the code that starts it (infra/build). */
const workerFile =
  import.meta.dirname === undefined
    ? join(__dirname, 'schema-worker.cjs')
    : join(import.meta.dirname, `schema-worker${extname(import.meta.filename)}`);

/**
 * Memory for the largest schema and answer, and for every error that the validator can report. The stack has the main
 * thread's size, so that the same recursion fails on both.
 */
const resourceLimits = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 32, stackSizeMb: 1 };
/**
 * Time beyond the limit that a job applies to itself. It is for starting a thread on a busy machine, and for compiling
 * one pattern.
 */
const jobGraceMs = 10_000;

interface WaitingJob {
  readonly text: string;
  readonly resolve: (result: JobResult | 'out_of_memory') => void;
  readonly reject: (cause: unknown) => void;
}

export type SchemaWorkers = ReturnType<typeof createSchemaWorkers>;

function createSchemaWorkers() {
  /** Jobs by key. The first key is served next. */
  const waiting = new Map<string, WaitingJob[]>();
  const running = new Set<string>();
  const idle = new Set<Worker>();

  function takeWorker(): Worker {
    const [waitingWorker] = idle;
    if (waitingWorker === undefined) return startWorker();
    idle.delete(waitingWorker);
    return waitingWorker;
  }

  function startWorker(): Worker {
    // The module is loaded here, because few processes ever start a thread.
    const threads = process.getBuiltinModule('node:worker_threads');
    const worker = new threads.Worker(workerFile, { env: {}, execArgv: [], resourceLimits });
    // A thread that ends while it is idle is not used again, and an idle thread does not keep the process running.
    worker.on('error', () => {}).on('exit', () => idle.delete(worker));
    worker.unref();
    return worker;
  }

  function startJobs(): void {
    for (const [owner, jobs] of waiting) {
      if (running.size >= workersMax) return;
      if (running.has(owner)) continue;
      const job = jobs.shift();
      waiting.delete(owner);
      // The key moves to the end, so that its jobs do not delay the jobs of other keys.
      if (jobs.length > 0) waiting.set(owner, jobs);
      if (job === undefined) continue;
      running.add(owner);
      void runJob(job, takeWorker()).then((reusable) => {
        running.delete(owner);
        if (reusable !== undefined) idle.add(reusable);
        startJobs();
      });
    }
  }

  return {
    /** True if a job of this owner runs or waits. */
    isBusy: (owner: string): boolean => running.has(owner) || waiting.has(owner),
    /** Runs a job. Rejects with RATE_LIMITER_UNAVAILABLE if too many jobs of the owner wait already. */
    run: (owner: string, text: string): Promise<JobResult | 'out_of_memory'> =>
      new Promise((resolve, reject) => {
        const jobs = waiting.get(owner) ?? [];
        if (jobs.length >= waitingJobsPerKeyMax) return reject(tooMany());
        waiting.set(owner, [...jobs, { text, resolve, reject }]);
        startJobs();
      }),
  };
}

const tooMany = () =>
  fail('RATE_LIMITER_UNAVAILABLE', {
    message: 'Too many schemas of this API key are being checked at the same time.',
    exhausted: 'schema_workers',
  });

/** Runs a job. Resolves with the worker, if it can take another job. */
async function runJob({ text, resolve, reject }: WaitingJob, worker: Worker): Promise<Worker | undefined> {
  const { promise: reply, resolve: onMessage, reject: onError } = Promise.withResolvers<WorkerReply>();
  const onExit = () => onError(new Error('a schema worker ended'));
  worker.on('message', onMessage).on('error', onError).on('exit', onExit);
  worker.ref();
  worker.postMessage(text);
  try {
    const workerReply = await waitAtMost(systemClock, workerJobMaxMs + jobGraceMs, reply, () => {
      throw new Error('a schema worker did not answer');
    });
    if ('error' in workerReply) reject(new Error(workerReply.error));
    else resolve(workerReply);
    worker.off('message', onMessage).off('error', onError).off('exit', onExit).unref();
    return worker;
  } catch (cause) {
    void worker.terminate();
    if ((cause as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') resolve('out_of_memory');
    else reject(cause);
    return undefined;
  }
}

export const schemaWorkers = createSchemaWorkers();
