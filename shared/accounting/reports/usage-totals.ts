// Totals and groups of the calls of some workspaces: a series by day, or a ranking by any other grouping.
import { mergeParallel, parallelReads } from '../../foundation/parallel/index.ts';
import { type CallRecord, type CallRecords, utcDaysBetween } from '../call-records/index.ts';
import type { UsageGrouping } from './usage-shares.ts';
import { dearestFirst, summarizeUsage, type UsageReport } from './usage-summary.ts';

export interface UsageQuery {
  readonly records: Pick<CallRecords, 'read'>;
  readonly workspaces: readonly string[];
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly by: UsageGrouping;
  /** After each day of a workspace, in no order: how many of all are read. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** Groups come dearest first, of equal cost those with more calls; days in their order. */
export async function readUsage(query: UsageQuery): Promise<UsageReport> {
  const { records, workspaces, sinceMs, untilMs, by, onProgress = () => {} } = query;
  const days = utcDaysBetween(sinceMs, untilMs);
  const all = days.length * workspaces.length;
  let done = 0;
  async function* readDay(workspace: string, day: string): AsyncGenerator<CallRecord> {
    yield* records.read(workspace, day, { sinceMs });
    done += 1;
    onProgress(done, all);
  }
  const sources = workspaces.flatMap((workspace) => days.map((day) => readDay(workspace, day)));
  const { groups, total } = await summarizeUsage(mergeParallel(sources, parallelReads), by);
  return { groups: by === 'day' ? groups : groups.toSorted(dearestFirst), total };
}
