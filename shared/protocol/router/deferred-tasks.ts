// Work that a request leaves for the time after its last byte: settlement, and the release of what a refused call had
// reserved. It runs on every way out, errors included.
import type { Log } from '../../foundation/log/index.ts';

export interface DeferredTasks {
  /** Runs once, after the answer has ended. A failure is logged and stops no other task. */
  add(task: () => Promise<void>): void;
  /** Runs all tasks side by side, then those that they have added. */
  run(): Promise<void>;
}

export function createDeferredTasks(log: Log, correlationId: string): DeferredTasks {
  let tasks: (() => Promise<void>)[] = [];
  const runOne = async (task: () => Promise<void>): Promise<void> => {
    try {
      await task();
    } catch (error) {
      log.error({ event: 'deferred_task_failed', correlation_id: correlationId }, error);
    }
  };
  return {
    add: (task) => void tasks.push(task),
    async run() {
      while (tasks.length > 0) {
        const due = tasks;
        tasks = [];
        await Promise.all(due.map(runOne));
      }
    },
  };
}
