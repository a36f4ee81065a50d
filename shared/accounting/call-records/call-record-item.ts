// Call records as items of their table.
//
//   pk  <workspace>#<UTC day>#<shard>        sk  <time, ISO>#<execution id>
//
// The time is the one in the execution id, which is a UUIDv7 made when the request arrived, so the id alone says where the
// record is. All of it follows from the record, so a write that is repeated replaces its own first try.
import { sha256Hex, timeOfUuidv7 } from '../../foundation/ids/index.ts';
import type { BatchPut, Item } from '../../storage/store/index.ts';
import { type CallRecord, fromScalars, type MemberName, memberNames, members, toScalars } from './record-members.ts';
import { instantMaxMs } from './stored-kinds.ts';
import { dayIn } from './utc-day.ts';

/**
 * DynamoDB takes 1,000 write units a second for one partition. Planned for half of that, as for counters, the shards of
 * one workspace take 4,000 records of a kilobyte a second: what a new table takes in all. May grow; a shard that was
 * taken away would no longer be read.
 */
export const shardCount = 8;

const secondsPerDay = 24 * 60 * 60;

export const partitionOf = (workspace: string, day: string, shard: number): string => `${workspace}#${day}#${shard}`;

/** Sorts before every record of this instant and after all earlier ones. */
export const sortKeyAt = (epochMs: number | undefined): string | undefined =>
  epochMs === undefined ? undefined : new Date(epochMs).toISOString();

/** By hash, not at random: a repeated write would land in another shard and be counted twice. */
const shardOf = (executionId: string): number => Number.parseInt(sha256Hex(executionId).slice(0, 8), 16) % shardCount;

/** The time in an execution id. Undefined: it has none that a record can have. */
export function timeOfExecution(executionId: string): number | undefined {
  const madeAtMs = timeOfUuidv7(executionId);
  return madeAtMs !== undefined && madeAtMs <= instantMaxMs ? madeAtMs : undefined;
}

/** Where the record of a call is. */
export function recordAddress(workspace: string, executionId: string, madeAtMs: number) {
  const time = new Date(madeAtMs).toISOString();
  return { pk: partitionOf(workspace, dayIn(time), shardOf(executionId)), sk: `${time}#${executionId}` };
}

/** Where a record stands among those of its workspace and day, as text that sorts by time: the same time and id as in its key. */
export const callPosition = ({ executionId, arrivedAtMs }: Pick<CallRecord, 'executionId' | 'arrivedAtMs'>): string =>
  `${sortKeyAt(timeOfExecution(executionId) ?? arrivedAtMs)}#${executionId}`;

export function recordPut(record: CallRecord, lifeDays: number) {
  const { workspace, executionId, arrivedAtMs } = record;
  return {
    table: 'records',
    item: Object.assign(
      toScalars(record),
      recordAddress(workspace, executionId, timeOfExecution(executionId) ?? arrivedAtMs),
      { expires_at_epoch_seconds: Math.ceil(arrivedAtMs / 1000) + lifeDays * secondsPerDay },
    ),
  } satisfies BatchPut;
}

/** `names`: what was read of it. Left out: all. */
export const recordOf = <Name extends MemberName = MemberName>(
  item: Item,
  names: readonly MemberName[] = memberNames,
): Pick<CallRecord, Name> => fromScalars(item, names);

/**
 * Of the item: what these members stand in, and when it is over. Its workspace is known to who asks for it: each attribute
 * costs a reader of many items.
 */
export const attributesOf = (names: readonly MemberName[]): readonly string[] => [
  ...new Set(names.filter((name) => name !== 'workspace').map((name) => members[name].attribute)),
  'expires_at_epoch_seconds',
];

/** DynamoDB deletes days late. */
export const isExpired = (item: Item, nowMs: number): boolean =>
  Number(item.expires_at_epoch_seconds) <= Math.floor(nowMs / 1000);
