// Runs the work that a request defers until after its last byte, which is settlement, and the release of a refused
// call's reservations. The work runs on every exit, errors included.
import type { Log } from '../../foundation/log/index.ts';
import { awaitAll } from '../../foundation/parallel/index.ts';
import { type Clock, waitAtMost } from '../../foundation/time/index.ts';

/**
 * Time limit of work without a charge. Reservations of a call without a charge expire by themselves, and a record is
 * not money.
 */
const unchargedMaxMs = 1_000;

/** Work that waits for something returns a promise. */
type DeferredTask = () => unknown;

export interface DeferredTasks {
  /** Adds a task, which runs once after the answer has ended. A failure is logged and stops no other task. */
  add(task: DeferredTask): void;
  /**
   * Adds a task for an answer that costs nothing. The request ends a second after the answer, and does not wait for
   * work that still runs then.
   */
  addUncharged(task: DeferredTask): void;
  /**
   * Runs all tasks concurrently, then the tasks that the first tasks have added. `ended` is called once all have ended,
   * which may be after the request.
   */
  run(ended: () => void): Promise<void>;
}

export function createDeferredTasks(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  correlationId: string,
): DeferredTasks {
  const tasks: DeferredTask[] = [];
  let costsNothing = false;
  const report = (error: unknown) => log.error({ event: 'deferred_task_failed', correlation_id: correlationId }, error);
  /** Never rejects. */
  const runOne = (task: DeferredTask): Promise<unknown> | undefined => {
    try {
      const running = task();
      return running instanceof Promise ? running.catch(report) : undefined;
    } catch (error) {
      report(error);
      return undefined;
    }
  };
  /** A task that runs is not in the list, so that it refers to nothing longer than it needs. */
  const runDue = () => awaitAll(tasks.splice(0).map(runOne));
  const runAll = async (ended: () => void) => {
    while (tasks.length > 0) {
      const running = runDue();
      if (running !== undefined) await running;
    }
    ended();
  };
  return {
    add: (task) => void tasks.push(task),
    addUncharged(task) {
      costsNothing = true;
      tasks.push(task);
    },
    run(ended) {
      const running = runAll(ended);
      if (!costsNothing) return running;
      return waitAtMost(clock, unchargedMaxMs, running, () =>
        log.error({ event: 'deferred_tasks_over_time', correlation_id: correlationId }),
      );
    },
  };
}
