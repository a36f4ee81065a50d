// Imports of a test file: jest's own functions as its runner provides them, each test and hook with a time limit. The
// runner (jest-light-runner) loads test files into plain Node, so that files of one worker share their imports; it has
// no time limit itself.
import type * as Jest from '@jest/globals';
import { sleep, systemClock } from '../../shared/foundation/time/index.ts';

const globals = globalThis as unknown as typeof Jest;

/** Time limit far above the time of any test on a busy machine: it ends a test that waits forever. */
const testTimeoutMs = 180_000;

// biome-ignore lint/suspicious/noExplicitAny: tests of every signature pass through.
type Run = (...args: any[]) => unknown;

const bounded =
  (run: Run, timeoutMs = testTimeoutMs): Run =>
  async (...args) => {
    const done = new AbortController();
    const late = sleep(systemClock, timeoutMs, done.signal).then(() => {
      if (!done.signal.aborted) throw new Error(`not done within ${timeoutMs / 1_000} s`);
    });
    try {
      await Promise.race([run(...args), late]);
    } finally {
      done.abort();
    }
  };

type Declare = (...args: [title: string, run: Run, timeoutMs?: number]) => void;
const boundedTest =
  (declare: Declare): Declare =>
  (title, run, timeoutMs) =>
    declare(title, bounded(run, timeoutMs));
const boundedHook = (declare: (run: Run) => void) => (run: Run, timeoutMs?: number) => declare(bounded(run, timeoutMs));

export const { describe, expect, jest } = globals;
export const it = Object.assign(boundedTest(globals.it as Declare), {
  each: (...table: Parameters<typeof globals.it.each>) => boundedTest(globals.it.each(...table) as unknown as Declare),
}) as unknown as Pick<typeof globals.it, 'each'> & ((...args: Parameters<typeof globals.it>) => void);
export const beforeAll = boundedHook(globals.beforeAll as (run: Run) => void) as typeof globals.beforeAll;
export const afterAll = boundedHook(globals.afterAll as (run: Run) => void) as typeof globals.afterAll;
export const beforeEach = boundedHook(globals.beforeEach as (run: Run) => void) as typeof globals.beforeEach;
export const afterEach = boundedHook(globals.afterEach as (run: Run) => void) as typeof globals.afterEach;
