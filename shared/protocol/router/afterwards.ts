// Work that a request leaves behind: settlement, counters, records. It runs after the last byte, so no client waits for
// it, and on every way out, errors included.
import type { Log } from '../../foundation/log/index.ts';

export interface Afterwards {
  /** Runs once, after the answer has ended. A failure is logged and concerns nobody else. */
  add(task: () => Promise<void>): void;
  /** The last added runs first, so what was taken first is given back last. A task may add tasks: they run next. */
  run(): Promise<void>;
}

export function createAfterwards(log: Log, correlationId: string): Afterwards {
  const tasks: (() => Promise<void>)[] = [];
  return {
    add: (task) => void tasks.push(task),
    async run() {
      for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
        try {
          await task();
        } catch (error) {
          log.error({ event: 'afterwards_failed', correlation_id: correlationId }, error);
        }
      }
    },
  };
}
