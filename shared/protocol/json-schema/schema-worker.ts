// Runs the thread of schema-workers.ts, one job at a time, each within its own limit.
import { parentPort } from 'node:worker_threads';
import { startStopwatch } from '../../foundation/time/index.ts';
import type { Limits, TimedResult } from './check.ts';
import type { SchemaJob, WorkerReply } from './schema-workers.ts';

/** The event loop loads this file too, so that a bundle contains the validator once. */
const loading = import('./check.ts');

function run(
  { answerCheck, schemaFault, valueProblem }: Awaited<typeof loading>,
  job: SchemaJob,
): TimedResult<unknown> {
  const limits: Limits = { maxMs: job.maxMs, patternWeightMax: Number.POSITIVE_INFINITY };
  switch (job.kind) {
    case 'schema':
      return schemaFault(job.schema, limits);
    case 'answer':
      return answerCheck(job.schema, job.answer, limits);
    case 'value':
      return valueProblem(job.schema, job.value, limits);
  }
}

parentPort?.on('message', async (text: string) => {
  const check = await loading;
  const elapsedMs = startStopwatch();
  let reply: WorkerReply;
  try {
    // There is no retry after a worker, so the result of a job whose time is over counts.
    reply = { value: run(check, JSON.parse(text) as SchemaJob).value, tookMs: elapsedMs() };
  } catch (cause) {
    reply = { error: (cause as Error).message };
  }
  parentPort?.postMessage(reply);
});
