// Runs a client's schema rules to their end or to a time limit. A step counter would need a hook in the library and
// would not count regular expressions; V8's own interrupt reaches both. Its limit is milliseconds of this thread, not a
// wait.
import { type Context, createContext, Script } from 'node:vm';

type BoundedRun<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'time_over' }
  /** The work went deeper than the stack. */
  | { readonly kind: 'too_deep' };

/** Only a script can be given a time limit, so this one calls the work. */
const callWork = new Script('work()');
let box: { work?: () => unknown } & Context;

/** Calls `work`, which must not wait for anything. Throws its errors. */
export function runBounded<Value>(work: () => Value, maxMs: number): BoundedRun<Value> {
  // Made on first use: it costs a millisecond.
  box ??= createContext({});
  box.work = work;
  try {
    return { kind: 'done', value: callWork.runInContext(box, { timeout: Math.ceil(maxMs) }) };
  } catch (cause) {
    // Compared by code and name: an error of another realm is no instance of our Error.
    const { code, name } = cause as { code?: unknown; name?: unknown };
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'time_over' };
    if (name === 'RangeError') return { kind: 'too_deep' };
    throw cause;
  } finally {
    delete box.work;
  }
}
