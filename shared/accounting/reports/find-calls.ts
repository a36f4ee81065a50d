// Finds calls among their records: the newest, dearest or slowest ones that match, or one by its id.
import { timeOfUuidv7 } from '../../foundation/ids/index.ts';
import { mapParallel, parallelReads } from '../../foundation/parallel/index.ts';
import type { CallRecord, CallRecords } from '../call-records/index.ts';
import { type CallRange, readCalls, readNewestFirst } from './newest-first.ts';

export interface CallSearch extends CallRange {
  readonly limit: number;
  readonly matches: (record: CallRecord) => boolean;
  /** Which come first. Default: the newest. */
  readonly order?: CallOrder;
}

export const callOrders = ['time', 'cost', 'ms'] as const;
export type CallOrder = (typeof callOrders)[number];

/** Of the newest it reads no further back than the limit needs; for any other order, all of the time. */
export async function findCalls(search: CallSearch): Promise<CallRecord[]> {
  if ((search.order ?? 'time') !== 'time') return findFirst(search);
  const found: CallRecord[] = [];
  for await (const { calls } of readNewestFirst(search)) {
    found.push(...calls.filter(search.matches).sort(newestFirst));
    if (found.length >= search.limit) break;
  }
  return found.slice(0, search.limit);
}

async function findFirst(search: CallSearch): Promise<CallRecord[]> {
  const { limit, matches, order = 'time' } = search;
  const found: CallRecord[] = [];
  const keepFirst = () => found.sort(compareBy[order]).splice(limit);
  for await (const record of readCalls(search)) {
    if (matches(record) && found.push(record) > 2 * limit) keepFirst();
  }
  keepFirst();
  return found;
}

function newestFirst(a: CallRecord, b: CallRecord): number {
  return b.arrivedAtMs - a.arrivedAtMs || (a.executionId < b.executionId ? 1 : -1);
}

const compareBy: Readonly<Record<CallOrder, (a: CallRecord, b: CallRecord) => number>> = {
  time: newestFirst,
  cost: (a, b) => (a.costPicoUsd === b.costPicoUsd ? newestFirst(a, b) : a.costPicoUsd < b.costPicoUsd ? 1 : -1),
  ms: (a, b) => b.totalMs - a.totalMs || newestFirst(a, b),
};

export interface CallLookup extends Omit<CallRange, 'records'> {
  readonly records: Pick<CallRecords, 'read' | 'find'>;
}

/**
 * By the `x-request-id` of the answer, which is the execution id. One that carries its time (UUIDv7) is one read in each
 * workspace; any other one is looked for from `sinceMs` on.
 */
export async function findCall(
  { records, workspaces, sinceMs, beforeMs }: CallLookup,
  id: string,
): Promise<CallRecord | undefined> {
  const uuid = id.toLowerCase();
  if (timeOfUuidv7(uuid) === undefined) {
    const matches = ({ correlationId, executionId }: CallRecord) => correlationId === id || executionId === id;
    const [found] = await findCalls({ records, workspaces, sinceMs, beforeMs, limit: 1, matches });
    return found;
  }
  let found: CallRecord | undefined;
  await mapParallel(workspaces, parallelReads, async (workspace) => {
    if (found === undefined) found = (await records.find(workspace, uuid)) ?? found;
  });
  return found;
}
