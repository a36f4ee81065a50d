// Totals and groups of the calls of some workspaces: a series by day, or a ranking by any other grouping.
import { type CallRange, readCalls } from './newest-first.ts';
import type { UsageGrouping } from './usage-shares.ts';
import { dearestFirst, summarizeUsage, type UsageReport } from './usage-summary.ts';

export interface UsageQuery extends CallRange {
  readonly by: UsageGrouping;
  /** After each day of a workspace, in no order: how many of all are read. */
  readonly onProgress?: (done: number, all: number) => void;
}

/** Groups come dearest first, of equal cost those with more calls; days in their order. */
export async function readUsage({ by, onProgress = () => {}, ...range }: UsageQuery): Promise<UsageReport> {
  let done = 0;
  const onDay = (all: number) => {
    done += 1;
    onProgress(done, all);
  };
  const calls = readCalls(range, { onDay });
  const { groups, total } = await summarizeUsage(calls, by);
  return { groups: by === 'day' ? groups : groups.toSorted(dearestFirst), total };
}
