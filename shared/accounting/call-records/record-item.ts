// Call records as items of their table.
//
//   pk  <workspace>#<UTC day of the arrival>#<shard>        sk  <arrival, ISO>#<execution id>
//
// All of it follows from the record, so a write that is repeated replaces its own first try.
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { BatchPut, Item } from '../../storage/store/index.ts';
import type { CallRecord } from './call-record.ts';
import { fromScalars, toScalars } from './record-members.ts';
import { utcDayOf } from './utc-day.ts';

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

export function recordPut(record: CallRecord, lifeDays: number) {
  const { workspace, executionId, arrivedAtMs } = record;
  const scalars = toScalars(record);
  return {
    table: 'records',
    item: {
      pk: partitionOf(workspace, utcDayOf(arrivedAtMs), shardOf(executionId)),
      sk: `${sortKeyAt(arrivedAtMs)}#${executionId}`,
      ...scalars,
      expires_at_epoch_seconds: Math.ceil(arrivedAtMs / 1000) + lifeDays * secondsPerDay,
    },
  } satisfies BatchPut;
}

export const recordOf = (item: Item): CallRecord => fromScalars(item);

/** DynamoDB deletes days late. */
export const isExpired = (item: Item, nowMs: number): boolean =>
  Number(item.expires_at_epoch_seconds) <= Math.floor(nowMs / 1000);
