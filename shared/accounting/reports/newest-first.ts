// Reads calls from the newest back, window by window, so that a reader stops where it has enough. Windows grow while calls are
// few, and are cut where they are many: no more than a bound is in memory, or read for nothing, at a time.
import { mergeParallel } from '../../foundation/parallel/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import { type CallRecord, type CallRecords, utcDaysBetween } from '../call-records/index.ts';

export interface CallRange {
  readonly records: Pick<CallRecords, 'read'>;
  readonly workspaces: readonly string[];
  readonly sinceMs: number;
  /** Not included. */
  readonly beforeMs: number;
}

export interface CallWindow {
  readonly sinceMs: number;
  /** Not included. */
  readonly beforeMs: number;
  /** In no order. */
  readonly calls: readonly CallRecord[];
  /** Days of workspaces that were looked at for it. */
  readonly daysRead: number;
}

const firstWindowMs = 5 * 60_000;
const growth = 4;
const windowCallsMax = 10_000;
/** A report is read behind the calls of clients: few reads at a time, and their turn comes after so many records. */
const reportReads = 4;
const recordsPerTurn = 200;
/** A window of this length is read whole, whatever it holds. */
const windowMinMs = 1_000;

/** `firstCallsMax`: a first window that holds more is cut, so that a reader who needs few reads few for nothing. */
export async function* readNewestFirst(range: CallRange, firstCallsMax = windowCallsMax): AsyncGenerator<CallWindow> {
  let windowMax = firstCallsMax;
  let beforeMs = range.beforeMs;
  let lengthMs = firstWindowMs;
  while (beforeMs > range.sinceMs) {
    const sinceMs = Math.max(range.sinceMs, beforeMs - lengthMs);
    const days = utcDaysBetween(sinceMs, beforeMs - 1);
    const callsMax = beforeMs - sinceMs <= windowMinMs ? Number.POSITIVE_INFINITY : windowMax;
    const calls = await readAtMost({ ...range, sinceMs, beforeMs }, callsMax);
    if (calls === undefined) {
      lengthMs = Math.max(windowMinMs, Math.floor((beforeMs - sinceMs) / growth));
      continue;
    }
    yield { sinceMs, beforeMs, calls, daysRead: days.length * range.workspaces.length };
    beforeMs = sinceMs;
    if (calls.length < windowMax / growth) lengthMs *= growth;
    windowMax = Math.min(windowCallsMax, windowMax * growth);
  }
}

/** Undefined: there are more. */
async function readAtMost(window: CallRange, callsMax: number): Promise<CallRecord[] | undefined> {
  const calls: CallRecord[] = [];
  for await (const call of readCalls(window)) {
    if (calls.push(call) > callsMax) return undefined;
    if (calls.length % recordsPerTurn === 0) await nextTurn();
  }
  return calls;
}

/** In no order. `onDay`: after each day of a workspace. */
export function readCalls(range: CallRange, onDay?: (all: number) => void): AsyncIterable<CallRecord> {
  const { records, workspaces, sinceMs, beforeMs } = range;
  const days = utcDaysBetween(sinceMs, beforeMs - 1);
  async function* readDay(workspace: string, day: string): AsyncGenerator<CallRecord> {
    yield* records.read(workspace, day, { sinceMs, beforeMs });
    onDay?.(days.length * workspaces.length);
  }
  const sources = workspaces.flatMap((workspace) => days.map((day) => readDay(workspace, day)));
  return mergeParallel(sources, reportReads);
}
