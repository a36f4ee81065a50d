// A share of one core for a process that runs already, as Lambda gives a function after its module is loaded.
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/foundation/time/index.ts';

const periodMs = 100;
const root = '/sys/fs/cgroup';
const groupName = `gw-cold-start-${process.pid}`;

export interface CpuQuota {
  /** How it is enforced. */
  readonly by: string;
  /** Gives how to end it, which is to be done once the process has ended. */
  apply(pid: number): () => Promise<void>;
}

export function cpuQuota(cores: number): CpuQuota {
  const groups = [
    { folder: join(root, 'cpu', groupName), write: writeVersion1 },
    { folder: join(root, groupName), write: writeVersion2 },
  ];
  for (const { folder, write } of groups) {
    if (tryGroup(folder, () => write(folder, cores))) return { by: 'a cgroup', apply: (pid) => joinGroup(folder, pid) };
  }
  return { by: 'SIGSTOP and SIGCONT', apply: (pid) => pauseInTurns(pid, cores) };
}

function writeVersion1(folder: string, cores: number): void {
  writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodMs * 1_000));
  writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(Math.round(periodMs * 1_000 * cores)));
}

const writeVersion2 = (folder: string, cores: number): void =>
  writeFileSync(join(folder, 'cpu.max'), `${Math.round(periodMs * 1_000 * cores)} ${periodMs * 1_000}`);

/** Without the right to make groups, or without the controller, there is none. */
function tryGroup(folder: string, write: () => void): boolean {
  try {
    mkdirSync(folder);
    write();
    return true;
  } catch {
    if (existsSync(folder)) rmdirSync(folder);
    return false;
  }
}

function joinGroup(folder: string, pid: number): () => Promise<void> {
  writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  return async () => {};
}

/** Of groups that this process made. */
export function removeGroups(): void {
  for (const folder of [join(root, 'cpu', groupName), join(root, groupName)]) if (existsSync(folder)) rmdirSync(folder);
}

/** Coarser than a cgroup: all threads of the process run for a part of each period. */
function pauseInTurns(pid: number, cores: number): () => Promise<void> {
  const end = new AbortController();
  const turns = (async () => {
    while (!end.signal.aborted && send(pid, 'SIGSTOP')) {
      await sleep(systemClock, periodMs * (1 - cores), end.signal);
      send(pid, 'SIGCONT');
      await sleep(systemClock, periodMs * cores, end.signal);
    }
  })();
  return async () => {
    end.abort();
    await turns;
    send(pid, 'SIGCONT');
  };
}

function send(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
