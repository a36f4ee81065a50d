// The processor time of the processes that a gateway starts, as Linux counts it: before 0.1.0 its store was one.
import { readdirSync, readFileSync } from 'node:fs';

/** Linux's unit of time, on every machine that Node runs on. */
const msPerTick = 10;

/** Positions in /proc/PID/stat, counted after the name of the process, which may contain spaces. */
const [parentAt, userTicksAt, systemTicksAt] = [1, 11, 12];

function statOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
  } catch {
    // It has ended, or this is no Linux.
    return [];
  }
}

export function cpuMsOf(pid: number): number {
  const stat = statOf(pid);
  return ((stat[userTicksAt] ?? NaN) + (stat[systemTicksAt] ?? NaN)) * msPerTick;
}

/** Its children and theirs. */
export function descendantsOf(pid: number): readonly number[] {
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
  const parents = new Map(all.map((one) => [one, statOf(one)[parentAt]]));
  const of = (parent: number): number[] =>
    all.filter((one) => parents.get(one) === parent).flatMap((one) => [one, ...of(one)]);
  return of(pid);
}
