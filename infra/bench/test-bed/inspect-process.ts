// Reports the resources of the gateway's process, and moves the clock of the process ahead, so that a minute of calls
// takes seconds. This file is loaded in the process before the gateway's main file. The process ends when its channel
// to the bench closes.

import { createHook } from 'node:async_hooks';
import { Session } from 'node:inspector/promises';

export type Inspection = {
  readonly advanceMs?: number;
  readonly collectsGarbage?: boolean;
  /** True if a collection also returns the memory that the runtime reserves for itself. */
  readonly returnsPages?: boolean;
  /** Samples the turns of the event loop until the next inspection. */
  readonly watchesTurns?: boolean;
  /**
   * Counts promises until the next inspection. Counting makes each promise larger, so allocations must not be sampled
   * at the same time.
   */
  readonly countsPromises?: boolean;
  /** Samples allocations until the next inspection. */
  readonly samplesAllocations?: boolean;
  /** True to report which source files have run since the last inspection with this option. */
  readonly countsFiles?: boolean;
};
export type ProcessFigures = ReturnType<typeof figures> & {
  readonly files: readonly string[];
  readonly allocations: readonly Allocation[];
};

/** Memory that was allocated since the sampling began, collected or not. */
interface Allocation {
  /** The source file that ran, or that called the code that ran; '' if there is none. */
  readonly url: string;
  readonly bytes: number;
}

const systemNow = Date.now;
let aheadMs = 0;
Date.now = () => systemNow() + aheadMs;

/** Longest turn in processor time of the thread, so that other processes do not count. */
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

let promises = 0;
let timers = 0;
const counting = createHook({
  init(_id, type) {
    if (type === 'PROMISE') promises += 1;
    if (type === 'Timeout') timers += 1;
  },
});

function countPromises(): void {
  [promises, timers] = [0, 0];
  counting.enable();
}

function figures() {
  const { user, system } = process.cpuUsage();
  const { rss: residentBytes, heapUsed: heapUsedBytes } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, residentBytes, heapUsedBytes, longestTurnMs, promises, timers };
}

let session: Session | undefined;

function openSession(): Session {
  if (session === undefined) {
    session = new Session();
    session.connect();
  }
  return session;
}

const samplingIntervalBytes = 4_096;
let isSampling = false;

async function sampleAllocations(): Promise<void> {
  isSampling = true;
  await openSession().post('HeapProfiler.startSampling', {
    samplingInterval: samplingIntervalBytes,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
}

async function allocationsSampled(): Promise<readonly Allocation[]> {
  if (!isSampling) return [];
  isSampling = false;
  const { profile } = await openSession().post('HeapProfiler.stopSampling');
  const byUrl = new Map<string, number>();
  const add = ({ callFrame, selfSize, children }: typeof profile.head, callerUrl: string): void => {
    const url = callFrame.url.startsWith('file:') ? callFrame.url : callerUrl;
    byUrl.set(url, (byUrl.get(url) ?? 0) + selfSize);
    for (const child of children) add(child, url);
  };
  add(profile.head, '');
  return [...byUrl].map(([url, bytes]) => ({ url, bytes }));
}

let countsFunctions = false;

/** Lists the files that ran, from V8's counts of functions. A file ran if one of its functions ran. */
async function filesRun(): Promise<readonly string[]> {
  const session = openSession();
  if (!countsFunctions) {
    countsFunctions = true;
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
  const { advanceMs = 0, collectsGarbage = false, returnsPages = false, countsFiles = false } = inspection;
  clearImmediate(watching);
  counting.disable();
  aheadMs += advanceMs;
  if (collectsGarbage) globalThis.gc?.({ type: 'major', flavor: returnsPages ? 'last-resort' : 'regular' });
  const counted = figures();
  const allocations = await allocationsSampled();
  const files = countsFiles ? await filesRun() : [];
  if (inspection.samplesAllocations === true) await sampleAllocations();
  process.send?.({ ...counted, files, allocations } satisfies ProcessFigures);
  if (inspection.watchesTurns === true) watchTurns();
  if (inspection.countsPromises === true) countPromises();
}

process.on('message', (inspection: Inspection) => void inspect(inspection));
