// Call records of a time, summed up. Workspaces and days are read side by side, records one by one.
import {
  type CallRecord,
  type CallRecords,
  summarizeUsage,
  type UsageGrouping,
  type UsageSummary,
} from '../../shared/accounting/call-records/index.ts';
import { mergeParallel } from './parallel.ts';
import { utcDaysBetween } from './since.ts';

/** A partition is read page by page and waits for each; so many of them wait together. */
const parallelReads = 16;

export interface UsageRequest {
  readonly records: Pick<CallRecords, 'read'>;
  readonly workspaces: readonly string[];
  readonly sinceMs: number;
  readonly nowMs: number;
  readonly by: UsageGrouping;
  /** Told after every day of a workspace. */
  readonly onProgress: (done: number, total: number) => void;
}

/** Dearest first; days in their order. */
export async function readUsage(request: UsageRequest): Promise<UsageSummary[]> {
  const { records, workspaces, sinceMs, nowMs, by, onProgress } = request;
  const days = utcDaysBetween(sinceMs, nowMs);
  const total = days.length * workspaces.length;
  let done = 0;

  async function* readDay(workspace: string, day: string): AsyncGenerator<CallRecord> {
    for await (const record of records.read(workspace, day)) if (record.arrivedAtMs >= sinceMs) yield record;
    done += 1;
    onProgress(done, total);
  }

  const sources = workspaces.flatMap((workspace) => days.map((day) => readDay(workspace, day)));
  const summaries = await summarizeUsage(mergeParallel(sources, parallelReads), by);
  return by === 'day' ? [...summaries] : summaries.toSorted(byCost);
}

function byCost(a: UsageSummary, b: UsageSummary): number {
  if (a.costPicoUsd !== b.costPicoUsd) return a.costPicoUsd > b.costPicoUsd ? -1 : 1;
  return b.calls - a.calls;
}
