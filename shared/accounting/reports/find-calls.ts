// Finds calls among their records: the newest, most expensive or slowest matching ones, or a call by its id.

import { timeOfUuidv7 } from '../../foundation/ids/index.ts';
import { hasText } from '../../foundation/lines/index.ts';
import { mapParallel, parallelReads } from '../../foundation/parallel/index.ts';
import { formatTags, type Tags, tagOf } from '../../protocol/wire/index.ts';
import { type CallRecord, type CallRecords, classOf, errorCodeOf } from '../call-records/index.ts';
import { type CallRange, keepCalls, readCalls, readNewestFirst } from './newest-first.ts';

interface CallSearch extends CallRange {
  readonly limit: number;
  readonly matches: (record: CallRecord) => boolean;
  /** Sort order; the newest first by default. */
  readonly order?: CallOrder;
}

export const callOrders = ['time', 'cost', 'ms'] as const;
export type CallOrder = (typeof callOrders)[number];

/** Finds calls. For the newest it reads no further back than the limit needs; for any other order, the whole time. */
export async function findCalls(search: CallSearch): Promise<CallRecord[]> {
  if ((search.order ?? 'time') !== 'time') return findFirst(search);
  const found: CallRecord[] = [];
  for await (const { keeper } of readNewestFirst(search, keepCalls)) {
    found.push(...keeper.calls.filter(search.matches).sort(newestFirst));
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

interface CallLookup extends Omit<CallRange, 'records'> {
  readonly records: Pick<CallRecords, 'read' | 'find'>;
}

/**
 * Finds a call by the `x-request-id` of the answer, which is the execution id. An id that contains its time (UUIDv7) is
 * one read in each workspace; any other id is searched for from `sinceMs` on.
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

// Filters of calls. An absent filter lets every call pass.

export interface CallFilter {
  /** True if the client got no complete answer. */
  readonly failed?: boolean | undefined;
  /** Selects failures of the gateway and its providers, or refusals of clients. */
  readonly outcome?: 'failed' | 'refused' | undefined;
  /** Code of the error that the client got. */
  readonly code?: string | undefined;
  readonly interface?: string | undefined;
  /** Session as its client sent it. */
  readonly session?: string | undefined;
  /** Name or public id of the call's key. */
  readonly key?: string | undefined;
  /** The model that was requested, or that answered. */
  readonly model?: string | undefined;
  /** Matches the provider of any attempt. */
  readonly provider?: string | undefined;
  readonly totalMsMin?: number | undefined;
  /** Tags that the call must have. */
  readonly tags?: Tags | undefined;
  /** Text within a name or id of the call, in upper or lower case. */
  readonly search?: string | undefined;
}

export const matchesFilter = (
  record: CallRecord,
  {
    failed,
    outcome,
    code,
    interface: interfaceId,
    session,
    key,
    model,
    provider,
    totalMsMin,
    tags = {},
    search,
  }: CallFilter,
): boolean =>
  (failed !== true || record.outcome !== 'ok') &&
  (outcome === undefined || classOf(record) === outcome) &&
  (code === undefined || errorCodeOf(record) === code) &&
  (interfaceId === undefined || (record.interfaceId ?? 'chat-completions') === interfaceId) &&
  (session === undefined || record.sessionId === session) &&
  (totalMsMin === undefined || record.totalMs >= totalMsMin) &&
  Object.entries(tags).every(([name, value]) => tagOf(record.tags, name) === value) &&
  (key === undefined || key === record.keyName || key === record.keyPublicId) &&
  (model === undefined || model === record.modelServed || model === record.modelAsked) &&
  (provider === undefined || attempted(record, provider)) &&
  (search === undefined || hasText(search, textsOf(record)));

const textsOf = (record: CallRecord): readonly (string | null | undefined)[] => [
  record.executionId,
  record.correlationId,
  record.workspace,
  record.keyName,
  record.keyPublicId,
  record.modelAsked,
  record.modelServed,
  record.provider,
  ...(record.attemptLog ?? []).map(({ provider }) => provider),
  record.functionId,
  record.sessionId,
  record.user,
  record.title,
  errorCodeOf(record),
  record.tags && formatTags(record.tags),
];

/** Replays, and answers from the cache, called no provider, and name the provider whose answer was stored. */
const attempted = ({ attemptLog, provider: finalProvider }: CallRecord, provider: string): boolean =>
  attemptLog?.length !== 0 &&
  (finalProvider === provider || (attemptLog ?? []).some((attempt) => attempt.provider === provider));
