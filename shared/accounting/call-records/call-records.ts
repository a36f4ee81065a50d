// Stores the records of usage reports. Records are written after the last byte of a call, many at a time, and read for
// the operator.
import { createCache } from '../../foundation/cache/index.ts';
import { cachedKeysMax, refusalRecordsPerSecond } from '../../foundation/constants/index.ts';
import { mergeParallel } from '../../foundation/parallel/index.ts';
import { type Clock, systemClock } from '../../foundation/time/index.ts';
import {
  type BatchDelay,
  type BatchPut,
  type CallOptions,
  coalesceRuns,
  type Store,
  type StoreTransaction,
} from '../../storage/store/index.ts';
import {
  attributesOf,
  isExpired,
  isUtcDay,
  partitionOf,
  recordAddress,
  recordOf,
  recordPut,
  shardCount,
  sortKeyAt,
  timeOfExecution,
} from './call-record-item.ts';
import type { CallRecord, MemberName } from './record-members.ts';

const lifeDaysDefault = 90;
/** Concurrent reads of one day. While this process reads one page, the store prepares the next. */
const shardReads = 2;

interface ReadOptions<Name extends MemberName> extends CallOptions {
  /** Selects calls that arrived from this instant on. */
  readonly sinceMs?: number;
  /** Selects calls that arrived before this instant. */
  readonly beforeMs?: number;
  /** Fields to read. Other fields are neither sent nor parsed. If absent, all fields are read. */
  readonly members?: readonly Name[] | undefined;
}

/** The records; every call throws StoreUnavailable. */
export interface CallRecords {
  /**
   * Resolves when the record is written. Records that arrive during a write share the next write. A write may be
   * repeated, and the last record counts, because its key follows from the call. The writes of `transaction` are made
   * together with the record, or not at all. Throws a TypeError for a record without a required field.
   */
  write(record: CallRecord, transaction?: StoreTransaction): Promise<void>;
  /**
   * Finds one call of a workspace by its execution id; undefined if no record has the id, or the id is not a UUIDv7.
   * The call makes one read, because the key follows from the id.
   */
  find(workspace: string, executionId: string, options?: CallOptions): Promise<CallRecord | undefined>;
  /**
   * Yields the calls of a workspace that arrived on a UTC day such as "2026-11-20", in no particular order. For the
   * operator, never on a request's path. Throws a RangeError for a day that does not exist.
   */
  read<Name extends MemberName = MemberName>(
    workspace: string,
    day: string,
    options?: ReadOptions<Name>,
  ): AsyncIterable<Pick<CallRecord, Name>>;
}

interface CallRecordsOptions {
  readonly store: Pick<Store, 'batchPut' | 'query' | 'get'>;
  /** Clock, which is used only for the expiry of records. */
  readonly clock?: Clock;
  /** Lifetime in days from the arrival, a whole number from 1; for records written from now on. */
  readonly lifeDays?: number;
  /** Delay of single records; if absent, each record is written at once. */
  readonly gathering?: BatchDelay | undefined;
}

/** Creates the records. Throws a RangeError for an invalid lifetime. */
export function createCallRecords(options: CallRecordsOptions): CallRecords {
  const { store, clock = systemClock, lifeDays = lifeDaysDefault, gathering } = options;
  if (!Number.isSafeInteger(lifeDays) || lifeDays < 1)
    throw new RangeError(`lifeDays is ${lifeDays}: must be 1 or more`);
  const writeTogether = coalesceRuns((puts: readonly BatchPut[]) => {
    // A batch accepts each key once, and the records of one call are equal.
    const byCall = new Map(puts.map((put) => [`${put.item.pk} ${put.item.sk}`, put]));
    return store.batchPut([...byCall.values()]);
  }, gathering);
  return {
    write(record, transaction) {
      const put = recordPut(record, lifeDays);
      return transaction === undefined ? writeTogether(put) : transaction.add((items) => void items.put(put));
    },
    async find(workspace, executionId, callOptions = {}) {
      const madeAtMs = timeOfExecution(executionId);
      if (madeAtMs === undefined) return undefined;
      const { pk, sk } = recordAddress(workspace, executionId, madeAtMs);
      const item = await store.get('records', pk, { ...callOptions, sortKey: sk });
      return item === undefined || isExpired(item, clock.nowMs()) ? undefined : recordOf(item);
    },
    async *read(workspace, day, { sinceMs, beforeMs, members, signal } = {}) {
      if (!isUtcDay(day)) throw new RangeError(`"${day}" is no day: must be such as 2026-11-20`);
      const attributes = members && attributesOf(members);
      const range = { from: sortKeyAt(sinceMs), to: sortKeyAt(beforeMs), attributes, signal };
      const shards = Array.from({ length: shardCount }, (_none, shard) =>
        store.query('records', partitionOf(workspace, day, shard), range),
      );
      for await (const item of mergeParallel(shards, shardReads)) {
        if (!isExpired(item, clock.nowMs())) yield recordOf({ ...item, workspace }, members);
      }
    },
  };
}

// Bounds the records of a key's refused calls, so that a client that repeats a call which cannot succeed does not fill
// the table for free. Further calls are only logged.

export interface RefusalQuota {
  /**
   * Returns whether one more refused call of this key is recorded. At most `refusalRecordsPerSecond` calls are recorded
   * in any second.
   */
  take(keyPublicId: string): boolean;
}

const windowMs = 1_000;

/** Creates the quota of one process. */
export function createRefusalQuota(clock: Clock): RefusalQuota {
  /** Times of the last records by key. A key without calls for a second may be forgotten. */
  const recorded = createCache<readonly number[]>({ sizeMax: cachedKeysMax, age: { freshMs: windowMs, clock } });
  return {
    take(keyPublicId) {
      const nowMs = clock.nowMs();
      const within = (recorded.get(keyPublicId) ?? []).filter((atMs) => atMs > nowMs - windowMs);
      if (within.length >= refusalRecordsPerSecond) return false;
      recorded.set(keyPublicId, [...within, nowMs]);
      return true;
    },
  };
}
