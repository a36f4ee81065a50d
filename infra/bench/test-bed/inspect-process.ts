// Loaded before the gateway's own main: reports the process's resources, and moves its clock ahead, so that a minute of
// calls takes seconds. The process ends with its channel to the bench.

export type Inspection = {
  readonly advanceMs?: number;
  readonly collectsGarbage?: boolean;
  /** From now on to the next inspection. */
  readonly watchesTurns?: boolean;
};
export type ProcessFigures = ReturnType<typeof figures>;

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

process.on('disconnect', () => process.exit(0));
process.on('message', ({ advanceMs = 0, collectsGarbage = false, watchesTurns = false }: Inspection) => {
  clearImmediate(watching);
  aheadMs += advanceMs;
  if (collectsGarbage) globalThis.gc?.();
  process.send?.(figures());
  if (watchesTurns) watchTurns();
});
