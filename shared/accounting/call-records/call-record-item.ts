// Converts call records to items of their table, and back.
//
//   pk  <workspace>#<UTC day>#<shard>        sk  <time, ISO>#<execution id>
//
// The time is the execution id's, a UUIDv7 made when the request arrived, so the key follows from the id alone. The
// whole item follows from the record, so a repeated write replaces its own first try.
import { daysOf } from '../../foundation/constants/index.ts';
import { sha256Hex, timeOfUuidv7 } from '../../foundation/ids/index.ts';
import { dayMs } from '../../foundation/time/index.ts';
import type { BatchPut, Item } from '../../storage/store/index.ts';
import { type CallRecord, fromScalars, type MemberName, memberNames, members, toScalars } from './record-members.ts';
import { instantMaxMs } from './stored-kinds.ts';

/**
 * Number of shards. DynamoDB takes 1,000 write units a second for one partition. Half of that is planned for, as for
 * counters, so that the shards of one workspace take 4,000 records of a kilobyte a second, which is the limit of a new
 * table. The number may grow; a removed shard would no longer be read.
 */
export const shardCount = 8;

const secondsPerDay = 24 * 60 * 60;

export const partitionOf = (workspace: string, day: string, shard: number): string => `${workspace}#${day}#${shard}`;

/** Returns a key that sorts before every record of this instant and after all earlier ones. */
export const sortKeyAt = (epochMs: number | undefined): string | undefined =>
  epochMs === undefined ? undefined : new Date(epochMs).toISOString();

/** Returns the shard, which is a hash of the id. With a random shard, a repeated write could be counted twice. */
const shardOf = (executionId: string): number => Number.parseInt(sha256Hex(executionId).slice(0, 8), 16) % shardCount;

/** Returns the time in an execution id; undefined for an id that no record can have. */
export function timeOfExecution(executionId: string): number | undefined {
  const madeAtMs = timeOfUuidv7(executionId);
  return madeAtMs !== undefined && madeAtMs <= instantMaxMs ? madeAtMs : undefined;
}

export function recordAddress(workspace: string, executionId: string, madeAtMs: number) {
  const time = new Date(madeAtMs).toISOString();
  return { pk: partitionOf(workspace, dayIn(time), shardOf(executionId)), sk: `${time}#${executionId}` };
}

/**
 * Returns the position of a record among those of its workspace and day, as text that sorts by time: the same time and
 * id as in its key.
 */
export const callPosition = ({ executionId, arrivedAtMs }: Pick<CallRecord, 'executionId' | 'arrivedAtMs'>): string =>
  `${sortKeyAt(timeOfExecution(executionId) ?? arrivedAtMs)}#${executionId}`;

export function recordPut(record: CallRecord, lifeDays: number) {
  const { workspace, executionId, arrivedAtMs, content } = record;
  // A record lives as long as its bodies, because they are found through the record.
  const days = content === undefined ? lifeDays : Math.max(lifeDays, daysOf(content.keep));
  return {
    table: 'records',
    item: Object.assign(
      toScalars(record),
      recordAddress(workspace, executionId, timeOfExecution(executionId) ?? arrivedAtMs),
      { expires_at_epoch_seconds: Math.ceil(arrivedAtMs / 1000) + days * secondsPerDay },
    ),
  } satisfies BatchPut;
}

/** Returns the record. `names` are the fields that were read; all if absent. */
export const recordOf = <Name extends MemberName = MemberName>(
  item: Item,
  names: readonly MemberName[] = memberNames,
): Pick<CallRecord, Name> => fromScalars(item, names);

/**
 * Returns the attributes of the item that contain these fields, and its expiry. The workspace is not included, because
 * the reader knows it, and each attribute costs a reader of many items.
 */
export const attributesOf = (names: readonly MemberName[]): readonly string[] => [
  ...new Set(names.filter((name) => name !== 'workspace').map((name) => members[name].attribute)),
  'expires_at_epoch_seconds',
];

/** True if the item has expired. DynamoDB may delete such an item only days later. */
export const isExpired = (item: Item, nowMs: number): boolean =>
  Number(item.expires_at_epoch_seconds) <= Math.floor(nowMs / 1000);

const dayLength = 'YYYY-MM-DD'.length;

/** Returns the day of an ISO 8601 time in UTC. */
const dayIn = (time: string): string => time.slice(0, dayLength);

/** Returns the day. Throws a RangeError for an invalid time. */
export const utcDayOf = (epochMs: number): string => dayIn(new Date(epochMs).toISOString());

/** True for a day that exists: "2026-02-30" does not. */
export function isUtcDay(day: string): boolean {
  const epochMs = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(epochMs) && utcDayOf(epochMs) === day;
}

/** Returns every UTC day from one instant to the other, including both. */
export function utcDaysBetween(sinceMs: number, untilMs: number): string[] {
  const first = Date.parse(`${utcDayOf(sinceMs)}T00:00:00Z`);
  const count = Math.floor((untilMs - first) / dayMs) + 1;
  return Array.from({ length: count }, (_none, index) => utcDayOf(first + index * dayMs));
}
