// One task of `compute: 'container'` on one processor: calls that come at a steady rate and take ten seconds each, with every limit
// on. What they cost it, how many it carries, and what a task that is told to stop does with those in flight.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createDynamoClient, createDynamoStore } from '../../../shared/storage/store/index.ts';
import { writeBundles } from '../../build/write-bundles.ts';
import { cpuMsOf } from '../against/process-cpu.ts';
import type { BenchPlan } from '../bench-options.ts';
import { createClient } from '../measuring-client.ts';
import { atLeast, atMost, percentile, type SectionReport } from '../report.ts';
import { limitedCall } from '../test-bed/bench-file.ts';
import { areExact, readBooks } from '../test-bed/books.ts';
import { costColumns, costOf, flushMs } from '../test-bed/measured-calls.ts';
import { callMs, createLoad, isWhole, type TaskLoad } from '../test-bed/task-load.ts';
import { startTask, type Task, type TaskContainer } from '../test-bed/task-process.ts';
import type { TestBed } from '../test-bed/test-bed.ts';

const projectRoot = join(import.meta.dirname, '../../..');
/** Of a whole processor: half of it is left for what comes at once. */
const busyMaxPercent = 50;
const memoryMaxMib = 2_048;
/** Behind a task that has stopped: nothing that it left may stand in their way. */
const followingCalls = 100;

export async function measureTask(bed: TestBed, { task: plan }: BenchPlan): Promise<SectionReport> {
  const built = await buildTask(bed.folder);
  const processor = canPin() ? 0 : undefined;
  const start = () => startTask({ ...built, storeUrl: bed.proxy.url, stage: 'local', processor });
  const rows = [];
  let calls = 0;
  for (const load of plan.loads) {
    const row = await measureLoad(bed, await start(), load, plan);
    rows.push(row);
    calls += row.calls;
  }
  const stopped = await stopUnderLoad(bed, start, plan.stopped, calls);
  const most = rows.find(({ inFlight, kind }) => inFlight === 1_000 && kind === 'half of them streams that wait');
  return {
    tables: [
      {
        title: `One task, ${processor === undefined ? 'on any processor' : 'on one processor'}; calls of 10 s, fifty keys with every limit; a stream has 300 chunks`,
        columns: [
          ...['calls', 'in flight', 'of', 'calls made', 'failed', 'busy %', 'CPU ms per call', 'resident MiB'],
          ...['p50 ms over 10 s', 'p95 ms over 10 s', ...costColumns],
        ],
        rows: rows.map((row) => Object.values(row)),
      },
      {
        title: 'A task that is told to stop',
        columns: ['in flight', 'whole', 'others', 'ended after s', 'exit', 'books', 'following calls refused'],
        rows: [Object.values(stopped)],
      },
    ],
    targets: [
      ...(most === undefined
        ? []
        : [
            atMost('busy with 1,000 calls in flight', most.busyPercent, busyMaxPercent, ' %'),
            atMost('memory with 1,000 calls in flight', most.residentMib, memoryMaxMib, ' MiB'),
            atMost('failed with 1,000 calls in flight', most.failed, 0),
          ]),
      atLeast('whole of those in flight when a task is told to stop', stopped.whole, stopped.inFlight),
      atMost('refused behind it', stopped.refusedBehind, 0),
    ],
  };
}

/** By the template of `prod`, with tasks. */
async function buildTask(folder: string) {
  const bundlesRoot = join(folder, 'bundles');
  await writeBundles(projectRoot, bundlesRoot, ['container']);
  const program = join(import.meta.dirname, '../test-bed/task-template-process.ts');
  const printed = execFileSync(process.execPath, [program, bundlesRoot, join(folder, 'cdk.out')], { encoding: 'utf8' });
  return { container: JSON.parse(printed) as TaskContainer, folder: join(bundlesRoot, 'container') };
}

/** Only Linux has it. */
function canPin(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function measureLoad(
  { proxy, keys }: TestBed,
  task: Task,
  wanted: TaskLoad,
  { warmMs, measuredMs }: BenchPlan['task'],
) {
  try {
    await proxy.takeRequests(flushMs);
    const load = createLoad(task, keys.task, wanted);
    // As many end as begin, and most of the code is compiled: a task runs for days.
    await load.run(warmMs);
    const [cpuBeforeMs, beganAtMs] = [cpuMsOf(task.pid), performance.now()];
    await load.run(measuredMs);
    const [cpuMs, wallMs] = [cpuMsOf(task.pid) - cpuBeforeMs, performance.now() - beganAtMs];
    const reached = load.inFlight();
    await load.ended();
    const { answers } = load;
    const overMs = answers.filter(({ status }) => status === 200).map(({ totalMs }) => totalMs - callMs);
    return {
      kind: wanted.kind,
      reached,
      inFlight: wanted.inFlight,
      calls: answers.length,
      failed: answers.filter((answer) => !isWhole(answer)).length,
      busyPercent: (cpuMs / wallMs) * 100,
      cpuMsPerCall: cpuMs / ((wallMs / callMs) * wanted.inFlight),
      residentMib: load.peakMib(),
      overP50: percentile(overMs, 0.5),
      overP95: percentile(overMs, 0.95),
      ...costOf(await proxy.takeRequests(flushMs), answers.length),
    };
  } finally {
    await task.stop();
  }
}

/** `callsBefore`: of the same workspace. */
async function stopUnderLoad(bed: TestBed, start: () => Promise<Task>, inFlight: number, callsBefore: number) {
  const task = await start();
  const load = createLoad(task, bed.keys.task, { inFlight, kind: 'half of them streams that write' });
  await load.run(callMs);
  const [endedBefore, running, toldAtMs] = [load.answers.length, load.inFlight(), performance.now()];
  const [exit] = await Promise.all([task.stop(), load.ended()]);
  const endedAfterSeconds = (performance.now() - toldAtMs) / 1_000;
  const whole = load.answers.slice(endedBefore).filter(isWhole).length;
  const books = await bookText(bed, callsBefore + load.answers.length);
  const refusedBehind = await callBehind(bed, start);
  return { inFlight: running, whole, others: running - whole, endedAfterSeconds, exit, books, refusedBehind };
}

/** Whether every call has its record, and records, keys and workspace tell the same sum. */
async function bookText({ storeUrl }: TestBed, calls: number): Promise<string> {
  const client = createDynamoClient({ endpoint: storeUrl });
  const books = await readBooks(createDynamoStore({ client, stage: 'local' }), 'task');
  client.destroy();
  if (areExact(books) && books.calls === calls) return 'exact';
  const { recorded, keysSpent, workspaceSpent, held } = books;
  return `${books.calls} records of ${calls} calls; ${recorded} recorded, ${keysSpent} of keys, ${workspaceSpent} of the workspace, ${held} held`;
}

async function callBehind({ keys }: TestBed, start: () => Promise<Task>): Promise<number> {
  const task = await start();
  const client = createClient(task, followingCalls);
  const calls = Array.from({ length: followingCalls }, (_none, at) =>
    limitedCall(keys.task[at % keys.task.length] ?? ''),
  );
  const answers = await Promise.all(calls.map(client.send));
  client.close();
  await task.stop();
  return answers.filter((answer) => !isWhole(answer)).length;
}
