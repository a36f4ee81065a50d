// Starts a child process that never outlives this process. A stop sends SIGTERM, then SIGKILL; when this process is
// killed without a chance to stop anything, a watcher on the other end of a pipe notices and does the same.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';

/** Time for which a child may take to end by itself after SIGTERM. */
const endTimeoutMs = 1_000;

interface BoundChild {
  readonly process: ChildProcess;
  /** Ends the child and its own children. May be called more than once, and after the child has ended. */
  stop(): Promise<void>;
}

interface ChildOptions {
  /** All variables of the child; by default the variables of this process, which may contain the keys of providers. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts a command with standard output and error on pipes. The child does not prevent this process from ending. */
export function spawnBoundChild(command: string, args: readonly string[], options: ChildOptions = {}): BoundChild {
  const { env = process.env } = options;
  // The child is in a process group of its own: Ctrl-C in a terminal reaches this process alone, which still needs the
  // child to stop.
  const child = spawn(command, args, { detached: true, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.unref();
  for (const pipe of [child.stdout, child.stderr]) (pipe as unknown as Socket).unref();
  if (child.pid !== undefined) watch(child, child.pid);
  return {
    process: child,
    async stop() {
      if (hasEnded(child)) return;
      // Without this, this process might end before the child has ended, and the waiting caller would never continue.
      child.ref();
      const ended = once(child, 'exit');
      signalGroup(child, 'SIGTERM');
      const timeout = new AbortController();
      await Promise.race([ended, sleep(systemClock, endTimeoutMs, timeout.signal)]);
      timeout.abort();
      if (hasEnded(child)) return;
      signalGroup(child, 'SIGKILL');
      await ended;
    },
  };
}

/** Returns the named variables of this process, for a child that needs no others. */
const variablesOf = (names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));

export const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? Number.NaN), signal);
  } catch {
    // The group has ended, or the platform has no groups.
    child.kill(signal);
  }
}

/**
 * Nothing is ever written to the pipe: `read` returns when the pipe ends, and the kernel ends it however this process
 * ends.
 */
const watcherScript = 'read -r _; kill -s TERM -- "-$1" && sleep 2 && kill -s KILL -- "-$1"';

function watch(child: ChildProcess, pid: number): void {
  const watcher = spawn('sh', ['-c', watcherScript, 'watcher', String(pid)], {
    detached: true,
    env: variablesOf(['PATH']),
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  (watcher.stdin as unknown as Socket).unref();
  // A platform without `sh` has no watcher, but the stop works without a watcher too.
  watcher.on('error', () => {});
  // The group's number may soon belong to another process, which must not get its signals.
  child.once('exit', () => watcher.kill('SIGKILL'));
}
