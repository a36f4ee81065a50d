// Reads calls from the newest back, window by window, so that a reader stops where it has enough. Windows grow while calls are
// few, and are cut where they are many: no more than a bound is in memory, or read for nothing, at a time.
import { mergeParallel } from '../../foundation/parallel/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import { type CallRecord, type CallRecords, type MemberName, utcDaysBetween } from '../call-records/index.ts';

export interface CallRange {
  readonly records: Pick<CallRecords, 'read'>;
  readonly workspaces: readonly string[];
  readonly sinceMs: number;
  /** Not included. */
  readonly beforeMs: number;
}

export interface CallWindow<Name extends MemberName = MemberName> {
  readonly sinceMs: number;
  /** Not included. */
  readonly beforeMs: number;
  /** In no order. */
  readonly calls: readonly Pick<CallRecord, Name>[];
  /** Days of workspaces that were looked at for it. */
  readonly daysRead: number;
  /** With those of windows that were cut. */
  readonly callsRead: number;
}

const firstWindowMs = 5 * 60_000;
const growth = 4;
const windowCallsMax = 10_000;
/** A report is read behind the calls of clients: few days at a time, and their turn comes after so many records. */
const reportDays = 2;
const recordsPerTurn = 200;
/** A window of this length is read whole: no clock tells more. */
const windowMinMs = 1;
const dayMs = 24 * 3_600_000;

interface Reading<Name extends MemberName> {
  /** A first window that holds more is cut, so that a reader who needs few reads few for nothing. */
  readonly firstCallsMax?: number;
  /** Of any window: its calls, and days of workspaces, of which it has one of each at the least. */
  readonly callsMax?: number;
  readonly daysMax?: number;
  /** What of the records is read. Left out: all. */
  readonly members?: readonly Name[];
}

export async function* readNewestFirst<Name extends MemberName = MemberName>(
  range: CallRange,
  {
    callsMax = windowCallsMax,
    firstCallsMax = callsMax,
    daysMax = Number.POSITIVE_INFINITY,
    members,
  }: Reading<Name> = {},
): AsyncGenerator<CallWindow<Name>> {
  const longestMs = Math.max(1, Math.floor(daysMax / range.workspaces.length)) * dayMs;
  let windowMax = Math.min(firstCallsMax, callsMax);
  let callsRead = 0;
  let beforeMs = range.beforeMs;
  let lengthMs = firstWindowMs;
  while (beforeMs > range.sinceMs) {
    const sinceMs = Math.max(range.sinceMs, beforeMs - lengthMs);
    const days = utcDaysBetween(sinceMs, beforeMs - 1);
    const mostCalls = beforeMs - sinceMs <= windowMinMs ? Number.POSITIVE_INFINITY : windowMax;
    const calls = await readAtMost({ ...range, sinceMs, beforeMs }, mostCalls, members);
    callsRead += calls?.length ?? windowMax;
    if (calls === undefined) {
      lengthMs = Math.max(windowMinMs, Math.floor((beforeMs - sinceMs) / growth));
      continue;
    }
    yield { sinceMs, beforeMs, calls, daysRead: days.length * range.workspaces.length, callsRead };
    callsRead = 0;
    beforeMs = sinceMs;
    if (calls.length < windowMax / growth) lengthMs = Math.min(lengthMs * growth, longestMs);
    windowMax = Math.min(callsMax, windowMax * growth);
  }
}

/** Undefined: there are more. */
async function readAtMost<Name extends MemberName>(window: CallRange, callsMax: number, members?: readonly Name[]) {
  const calls: Pick<CallRecord, Name>[] = [];
  for await (const call of readCalls(window, { members })) {
    if (calls.push(call) > callsMax) return undefined;
    if (calls.length % recordsPerTurn === 0) await nextTurn();
  }
  return calls;
}

interface ReadingDays<Name extends MemberName> {
  /** Called after each day of a workspace. */
  readonly onDay?: (all: number) => void;
  readonly members?: readonly Name[] | undefined;
}

/** In no order. */
export function readCalls<Name extends MemberName = MemberName>(
  range: CallRange,
  { onDay, members }: ReadingDays<Name> = {},
): AsyncIterable<Pick<CallRecord, Name>> {
  const { records, workspaces, sinceMs, beforeMs } = range;
  const days = utcDaysBetween(sinceMs, beforeMs - 1);
  async function* readDay(workspace: string, day: string) {
    yield* records.read(workspace, day, { sinceMs, beforeMs, members });
    onDay?.(days.length * workspaces.length);
  }
  const sources = workspaces.flatMap((workspace) => days.map((day) => readDay(workspace, day)));
  return mergeParallel(sources, reportDays);
}
