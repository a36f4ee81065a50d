// Reads calls from the newest back, window by window, so that a reader stops when it has enough. Windows grow while
// calls are few, and are cut when they are many: no more than a bound is in memory, or read without use, at a time.
import { mergeParallel } from '../../foundation/parallel/index.ts';
import { nextTurn } from '../../foundation/time/index.ts';
import { type CallRecord, type CallRecords, type MemberName, utcDaysBetween } from '../call-records/index.ts';

export interface CallRange {
  readonly records: Pick<CallRecords, 'read'>;
  readonly workspaces: readonly string[];
  readonly sinceMs: number;
  /** End of the range, which is not part of it. */
  readonly beforeMs: number;
}

/**
 * A reader's accumulator for the calls of a window, while they are read. If the window is truncated, the accumulator is
 * dropped.
 */
interface Keeper<Name extends MemberName = MemberName> {
  add(call: Pick<CallRecord, Name>): void;
}

/** Collects the calls themselves, in no order. */
export function keepCalls() {
  const calls: CallRecord[] = [];
  return { calls, add: (call: CallRecord) => void calls.push(call) };
}

interface CallWindow<WindowKeeper> {
  readonly sinceMs: number;
  readonly keeper: WindowKeeper;
  readonly keptCallCount: number;
  /** Number of days of workspaces that were read. */
  readonly daysRead: number;
  /** Number of calls read, truncated windows included. */
  readonly callsRead: number;
}

const firstWindowMs = 5 * 60_000;
const growth = 4;
const windowCallsMax = 10_000;
/** Number of days that are read at a time. A report yields to the calls of clients, after `recordsPerTurn` records. */
const reportDays = 2;
const recordsPerTurn = 200;
/** Length of a window that is always read completely, because no clock is finer. */
const windowMinMs = 1;
const dayMs = 24 * 3_600_000;

interface Reading<Name extends MemberName> {
  /**
   * Bound of the first window, which is truncated beyond it, so that a reader who needs few calls reads few without
   * use.
   */
  readonly firstCallsMax?: number;
  /** Bound of the calls, and of the days of workspaces, in any window. A window has at least one of each. */
  readonly callsMax?: number;
  readonly daysMax?: number;
  /** Fields to read; all if absent. */
  readonly members?: readonly Name[];
}

export async function* readNewestFirst<WindowKeeper extends Keeper<Name>, Name extends MemberName = MemberName>(
  range: CallRange,
  startKeeping: () => WindowKeeper,
  {
    callsMax = windowCallsMax,
    firstCallsMax = callsMax,
    daysMax = Number.POSITIVE_INFINITY,
    members,
  }: Reading<Name> = {},
): AsyncGenerator<CallWindow<WindowKeeper>> {
  const longestMs = Math.max(1, Math.floor(daysMax / range.workspaces.length)) * dayMs;
  let windowMax = Math.min(firstCallsMax, callsMax);
  let callsRead = 0;
  let beforeMs = range.beforeMs;
  let lengthMs = firstWindowMs;
  while (beforeMs > range.sinceMs) {
    const sinceMs = Math.max(range.sinceMs, beforeMs - lengthMs);
    const days = utcDaysBetween(sinceMs, beforeMs - 1);
    const mostCalls = beforeMs - sinceMs <= windowMinMs ? Number.POSITIVE_INFINITY : windowMax;
    const keeper = startKeeping();
    const keptCallCount = await keepAtMost({ ...range, sinceMs, beforeMs }, keeper, mostCalls, members);
    callsRead += keptCallCount ?? windowMax;
    if (keptCallCount === undefined) {
      lengthMs = Math.max(windowMinMs, Math.floor((beforeMs - sinceMs) / growth));
      continue;
    }
    yield { sinceMs, keeper, keptCallCount, daysRead: days.length * range.workspaces.length, callsRead };
    callsRead = 0;
    beforeMs = sinceMs;
    if (keptCallCount < windowMax / growth) lengthMs = Math.min(lengthMs * growth, longestMs);
    windowMax = Math.min(callsMax, windowMax * growth);
  }
}

/** Returns the number of calls; undefined when there are more. */
async function keepAtMost<Name extends MemberName>(
  window: CallRange,
  keeper: Keeper<Name>,
  callsMax: number,
  members?: readonly Name[],
): Promise<number | undefined> {
  let calls = 0;
  for await (const call of readCalls(window, { members })) {
    calls += 1;
    if (calls > callsMax) return undefined;
    keeper.add(call);
    if (calls % recordsPerTurn === 0) await nextTurn();
  }
  return calls;
}

interface ReadingDays<Name extends MemberName> {
  /** Called after each day of a workspace. */
  readonly onDay?: (all: number) => void;
  readonly members?: readonly Name[] | undefined;
}

/** Yields the calls in no order. */
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
