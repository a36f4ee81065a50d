// The child's half of a bench process: says once that it is ready, answers questions, and never outlives its parent.

export type Question = 'cpu' | 'memory';

export interface Ready {
  /** Base URL, ends in /v1. */
  readonly url: string;
}

/** User and system time of the process so far. */
export interface CpuAnswer {
  readonly cpuMs: number;
}

/** After a full collection. */
export interface MemoryAnswer {
  readonly residentBytes: number;
  readonly heapUsedBytes: number;
}

export function sayReady(ready: Ready): void {
  process.on('message', (question: Question) => {
    process.send?.(question === 'cpu' ? cpuNow() : memoryNow());
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.(ready);
}

function cpuNow(): CpuAnswer {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1_000 };
}

function memoryNow(): MemoryAnswer {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  return { residentBytes: rss, heapUsedBytes: heapUsed };
}
