// Loaded before the gateway's own main: reports the process's resources, and moves its clock ahead, so that a minute of
// calls takes seconds. The process ends with its channel to the bench.

import { Session } from 'node:inspector/promises';

export type Inspection = {
  readonly advanceMs?: number;
  readonly collectsGarbage?: boolean;
  /** From now on to the next inspection. */
  readonly watchesTurns?: boolean;
  /** Reports which files of source have run since the last inspection that asked so. */
  readonly countsFiles?: boolean;
};
export type ProcessFigures = ReturnType<typeof figures> & { readonly files: readonly string[] };

const systemNow = Date.now;
let aheadMs = 0;
Date.now = () => systemNow() + aheadMs;

/** In processor time of the thread, so that other processes do not count. */
let longestTurnMs = 0;
let watching: NodeJS.Immediate | undefined;

function watchTurns(): void {
  longestTurnMs = 0;
  let before = process.threadCpuUsage();
  const next = () => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longestTurnMs = Math.max(longestTurnMs, (user + system) / 1_000);
    watching = setImmediate(next);
  };
  watching = setImmediate(next);
}

function figures() {
  const { user, system } = process.cpuUsage();
  const { rss: residentBytes, heapUsed: heapUsedBytes } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, residentBytes, heapUsedBytes, longestTurnMs };
}

let session: Session | undefined;

/** By V8's counts of functions: a file runs where one of its functions does. */
async function filesRun(): Promise<readonly string[]> {
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const hasRun = ({ functions }: (typeof result)[number]) =>
    functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
  return result.filter(hasRun).map(({ url }) => url);
}

process.on('disconnect', () => process.exit(0));
async function inspect(inspection: Inspection): Promise<void> {
  const { advanceMs = 0, collectsGarbage = false, watchesTurns = false, countsFiles = false } = inspection;
  clearImmediate(watching);
  aheadMs += advanceMs;
  if (collectsGarbage) globalThis.gc?.();
  const files = countsFiles ? await filesRun() : [];
  process.send?.({ ...figures(), files } satisfies ProcessFigures);
  if (watchesTurns) watchTurns();
}

process.on('message', (inspection: Inspection) => void inspect(inspection));
