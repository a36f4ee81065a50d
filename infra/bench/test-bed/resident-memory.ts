import { readFileSync } from 'node:fs';

/** Memory of a process by Linux's count; NaN elsewhere, and once it has ended. */
export function residentKib(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN);
  } catch {
    return NaN;
  }
}
