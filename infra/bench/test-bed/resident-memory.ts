import { readFileSync } from 'node:fs';

/**
 * Returns the resident memory of a process, as Linux counts it; NaN on other systems, and once the process has ended.
 */
export function residentKib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);
  } catch {
    return NaN;
  }
}
