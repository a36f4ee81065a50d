// Loaded before the gateway's own main: tells what the process uses, and moves its clock ahead, so that a minute of calls
// takes seconds. The process ends with its channel to the bench.

export type Inspection = { readonly advanceMs?: number; readonly collectsGarbage?: boolean };
export type ProcessFigures = ReturnType<typeof figures>;

const systemNow = Date.now;
let aheadMs = 0;
Date.now = () => systemNow() + aheadMs;

function figures() {
  const { user, system } = process.cpuUsage();
  const { rss: residentBytes, heapUsed: heapUsedBytes } = process.memoryUsage();
  return { cpuMs: (user + system) / 1_000, residentBytes, heapUsedBytes };
}

process.on('disconnect', () => process.exit(0));
process.on('message', ({ advanceMs = 0, collectsGarbage = false }: Inspection) => {
  aheadMs += advanceMs;
  if (collectsGarbage) globalThis.gc?.();
  process.send?.(figures());
});
