// Gives each item one writer in a process. During a write of an item, requests for the same item wait and share the
// next write. Each request gets its answer as if it were alone and in its turn. A single request is written at once.
import { createCache } from '../../foundation/cache/index.ts';
import { admissionTimeoutMs, storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import {
  applyChanges,
  type BatchDelay,
  batchRuns,
  type ConditionalResult,
  type Item,
  type Store,
  type StoreTransaction,
  StoreUnavailable,
  type TransactionItems,
} from '../../storage/store/index.ts';
import type { ItemAddress, SeenItem } from './counter.ts';
import {
  isReservation,
  isSettlement,
  planWrite,
  type QueuedRequest,
  type QueuedWrite,
  requestsOf,
} from './plan-write.ts';
import type { AfterCall, Assess, Assessment, ReservationOutcome, SettlementOutcome } from './requests.ts';
import { contentionError, createSettleOnce, type SettleOnce, type WriteEnded } from './settle-once.ts';
import { createMark, type Mark, withMarks } from './settlement-mark.ts';

/** Longest time that a request may wait in the process for its turn. */
const queueWaitMaxMs = 10_000;
/**
 * Maximum number of calls of the store for a request. Each call after the first follows a write of another process, or
 * a changed configuration.
 */
const asksMax = 10;
/** Maximum number of items that are remembered as they were last returned, some 3 KB each. */
const rememberedItemsMax = 5_000;
/** Time for which an item is remembered, because idle items of limits are deleted after two days and created again. */
const rememberedMs = 3_600_000;

export interface ItemWriter {
  /**
   * Reserves. Throws StoreUnavailable, also for a request that waited too long for its turn. Then the amount may have
   * been taken; it cannot be settled, and expires. `owner` is the owner of the later settlement. `known` is an older
   * copy of the item, which saves a read and decides nothing. `toResult` converts the outcome to the result.
   */
  reserve<Assessed extends Assessment, Result = ReservationOutcome<Assessed>>(
    address: ItemAddress & { readonly owner?: string | undefined; readonly known?: Item | undefined },
    assess: Assess<Assessed>,
    toResult?: (outcome: ReservationOutcome<Assessed>) => Result,
  ): Promise<Result>;
  /**
   * Settles once per owner and item, however often it is called; 'gone': settled before, or this process has made no
   * such reservation. A charge without a reservation is made each time. Throws StoreUnavailable: then it has to be
   * called again.
   */
  settle(
    address: ItemAddress & { readonly owner: string },
    settlement: AfterCall,
    options?: SettlementOptions,
  ): Promise<SettlementOutcome>;
  /** Returns the item as this process knows it; undefined if the process does not know it. */
  seen(address: ItemAddress): Item | undefined;
}

export interface SettlementOptions {
  /**
   * Default true. If false in a busy process, the settlement may be written together with the next request of the item.
   */
  readonly isAwaited?: boolean | undefined;
  /** True if the outcome must contain the item as the store has it after the write. Default false. */
  readonly needsItem?: boolean | undefined;
  /**
   * Transaction that makes the write together with its own writes, or not at all. The write then needs no mark to count
   * once.
   */
  readonly transaction?: StoreTransaction | undefined;
  /**
   * The part of a reservation with amount and slot that is settled now. The slot is never the last part. Absent: both
   * parts.
   */
  readonly part?: 'slot' | 'amount' | undefined;
}

export interface ItemWriterOptions {
  readonly store: Pick<Store, 'get' | 'update' | 'transact'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
  /** Delay of settlements for which no caller waits; if absent, they are written at once. */
  readonly gathering?: BatchDelay | undefined;
}

interface ItemQueue extends WrittenItem {
  readonly enter: (request: QueuedRequest, isAwaited?: boolean) => void;
}

export function createItemWriter({ store, clock, randomness, gathering }: ItemWriterOptions): ItemWriter {
  const queues = createCache<ItemQueue>({ sizeMax: rememberedItemsMax });
  const settleOnce = createSettleOnce({ store, clock });
  /** Number of the last request or store call. Requests and store calls are numbered in one sequence. */
  let lastNumber = 0;
  const nextNumber = () => {
    lastNumber += 1;
    return lastNumber;
  };
  const { read, write } = createItemQuestions({ store, clock, randomness, settleOnce, nextNumber });

  function queueOf({ table, key }: ItemAddress): ItemQueue {
    const name = `${table} ${key}`;
    const known = queues.get(name);
    if (known !== undefined) return known;
    const enter = batchRuns<QueuedRequest>((requests) => serve(queue, requests), gathering);
    const queue: ItemQueue = { table, key, enter, seen: undefined, deletableMark: undefined };
    queues.set(name, queue);
    return queue;
  }

  /** Makes one store call at most. Returns the requests that have no answer yet. */
  async function serve(queue: ItemQueue, requests: readonly QueuedRequest[]): Promise<readonly QueuedRequest[]> {
    try {
      const nowMs = clock.nowMs();
      const { write: planned, remaining } = decide(queue, requests, nowMs);
      if (planned === undefined) {
        if (remaining.length > 0) await read(queue, remaining);
        return remaining;
      }
      const writeEnd = await write(queue, planned, { nowMs, areOthersLeft: remaining.length > 0 });
      if (writeEnd.kind === 'again') return [...writeEnd.requests, ...remaining];
      const { item } = writeEnd;
      // The callers continue once this run has ended, and their next requests are then served at once.
      queueMicrotask(() => {
        for (const { waiting, wasLate } of planned.settled) waiting.resolve({ kind: 'settled', item, wasLate });
        for (const { resolve } of planned.reserved) resolve({ kind: 'reserved', item, atMs: nowMs });
      });
      return remaining;
    } catch (error) {
      // The item could not be read, or is invalid by a fault of the gateway, for example because a stored limit is not
      // an amount.
      for (const { reject } of requests) reject(error);
      return [];
    }
  }

  const newTurn = () => ({ number: nextNumber(), arrivedAtMs: clock.nowMs(), asks: 0 });

  return {
    reserve<Assessed extends Assessment, Result = ReservationOutcome<Assessed>>(
      address: Parameters<ItemWriter['reserve']>[0],
      assess: Assess<Assessed>,
      toResult: (outcome: ReservationOutcome<Assessed>) => Result = (outcome) => outcome as Result,
    ): Promise<Result> {
      const queue = queueOf(address);
      const { owner, known } = address;
      // The age of the known copy is unknown.
      if (known !== undefined) queue.seen ??= { item: known, atMs: 0, number: 0 };
      // A queue serves reservations of all kinds, and refuses each only for its own conditions.
      const { promise, ...answers } = resultsOf((outcome) => toResult(outcome as ReservationOutcome<Assessed>));
      queue.enter({ assess, owner, ...answers, isReadLater: false, ...newTurn() });
      return promise;
    },

    settle: (address, settlement, { isAwaited, transaction, part } = {}) => {
      if (transaction !== undefined) {
        const write = (ended: WriteEnded) =>
          settleIn({ clock, nextNumber }, transaction, queueOf(address), settlement, ended);
        // A reservation without its slot remains to be settled.
        return part === 'slot' ? write(() => {}) : settleOnce.settle(address, settlement, write);
      }
      return settleOnce.settle(address, settlement, (ended) => {
        const { promise, ...answers } = answersOf(ended);
        queueOf(address).enter({ settlement, owner: address.owner, ...answers, ...newTurn() }, isAwaited);
        return promise;
      });
    },

    seen: ({ table, key }) => queues.get(`${table} ${key}`)?.seen?.item,
  };
}

/** Returns a promise of the outcome as `toResult` converts it. */
function resultsOf<Result>(toResult: (outcome: ReservationOutcome) => Result) {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  return {
    promise,
    resolve(outcome: ReservationOutcome) {
      try {
        resolve(toResult(outcome));
      } catch (error) {
        reject(error);
      }
    },
    reject,
  };
}

/** Returns a promise of an outcome. `ended` is called before its caller continues. */
function answersOf(ended: WriteEnded) {
  const { promise, resolve, reject } = Promise.withResolvers<SettlementOutcome>();
  return {
    promise,
    resolve(outcome: SettlementOutcome) {
      ended(true);
      resolve(outcome);
    },
    reject(error: unknown) {
      ended(false);
      reject(error);
    },
  };
}

/**
 * Decides by the item as the transaction has it, so that no other write comes in between, and no write has to be waited
 * for.
 */
function settleIn(
  { clock, nextNumber }: { readonly clock: Clock; readonly nextNumber: () => number },
  transaction: StoreTransaction,
  written: WrittenItem,
  settlement: AfterCall,
  ended: WriteEnded,
): Promise<SettlementOutcome> {
  const { table, key } = written;
  const question = { number: nextNumber(), atMs: clock.nowMs() };
  const settle = (items: TransactionItems): SettlementOutcome => {
    const nowMs = clock.nowMs();
    const seen = { item: items.get(table, key) ?? {}, atMs: nowMs };
    const { write: planned } = planWrite([], [{ settlement }], seen, nowMs);
    if (planned === undefined) return { kind: 'gone' };
    const { kind, item = {} } = items.update({ table, key, ...planned.drafted });
    if (kind === 'refused') throw new Error('a settlement was refused by the item that it was planned for');
    return { kind: 'settled', item, wasLate: planned.settled.some(({ wasLate }) => wasLate) };
  };
  const committed = (outcome: SettlementOutcome) => {
    const isNewest = written.seen === undefined || written.seen.number < question.number;
    if (outcome.kind === 'settled' && isNewest) written.seen = { item: outcome.item, ...question };
    ended(true);
  };
  return transaction.add(settle, { committed, failed: () => ended(false) });
}

/** Answers requests that need no write. */
function decide(item: WrittenItem, requests: readonly QueuedRequest[], nowMs: number) {
  const inTime = requests.filter((request) => !isRefused(request, nowMs));
  if (item.seen !== undefined && item.seen.number > 0 && nowMs - item.seen.atMs > rememberedMs) item.seen = undefined;
  const reservations = inTime.filter(isReservation);
  for (const request of reservations)
    request.isReadLater = item.seen !== undefined && item.seen.number > request.number;
  const { answered, gone, write } = planWrite(reservations, inTime.filter(isSettlement), item.seen, nowMs);
  if (answered.length + gone.length > 0)
    queueMicrotask(() => {
      for (const [{ resolve }, outcome] of answered) resolve(outcome);
      for (const { resolve } of gone) resolve({ kind: 'gone' });
    });
  const inWrite = write === undefined ? 0 : write.settled.length + write.reserved.length;
  if (answered.length + gone.length + inWrite === inTime.length) return { write, remaining: [] };
  const isDone = new Set<QueuedRequest>([...answered.map(([request]) => request), ...gone, ...requestsOf(write)]);
  return { write, remaining: inTime.filter((request) => !isDone.has(request)) };
}

function isRefused({ arrivedAtMs, asks, reject }: QueuedRequest, nowMs: number): boolean {
  const isOverdue = nowMs - arrivedAtMs > queueWaitMaxMs;
  if (asks >= asksMax) reject(contentionError());
  else if (isOverdue)
    reject(new StoreUnavailable(new Error(`waited ${queueWaitMaxMs} ms in the process for its turn`), 'write_queue'));
  return isOverdue || asks >= asksMax;
}

// Makes the store calls of an item's writer, which reads the item, or writes it for the waiting requests.

/** Time limit when the store does not answer, so that one more call fits into the time of an admission. */
const unansweredMaxMs = admissionTimeoutMs - storeCallTimeoutMs;
/**
 * If the item was read within this time, a write does not request the item back, because its conditions are checked in
 * any case. Changes by other processes are seen at the next read.
 */
const lookEveryMs = 1_000;

/** State of an item that this process writes, as far as the process knows it. */
interface WrittenItem extends ItemAddress {
  seen: (SeenItem & { readonly number: number }) | undefined;
  /** Mark of this process's last settlement of the item, whose write was answered. */
  deletableMark: Mark | undefined;
}

interface QuestionOptions {
  readonly store: Pick<Store, 'get' | 'update' | 'transact'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
  readonly settleOnce: SettleOnce;
  readonly nextNumber: () => number;
}

type SentWrite =
  | { readonly kind: 'written'; readonly item: Item }
  | { readonly kind: 'again'; readonly requests: readonly QueuedRequest[] };

interface WriteMoment {
  readonly nowMs: number;
  /** True if the answer decides about waiting requests. */
  readonly areOthersLeft: boolean;
}

function createItemQuestions({ store, clock, randomness, settleOnce, nextNumber }: QuestionOptions) {
  /** Remembers the returned item. `made` is the result of the write on the last read item, and as old as that read. */
  async function ask(
    written: WrittenItem,
    asking: readonly QueuedRequest[],
    call: () => Promise<{ readonly kind: ConditionalResult['kind'] | 'read'; readonly item: Item | undefined }>,
    expectedItem?: WrittenItem['seen'],
  ): Promise<{ readonly isRefused: boolean; readonly item: Item }> {
    const question = { number: nextNumber(), atMs: clock.nowMs() };
    for (const request of asking) request.asks += 1;
    const { kind, item = {} } = await call();
    const seen = expectedItem !== undefined && kind === 'written' ? expectedItem : { item, ...question };
    written.seen = seen;
    return { isRefused: kind === 'refused', item: seen.item };
  }

  return {
    async read(written: WrittenItem, asking: readonly QueuedRequest[]): Promise<void> {
      const { table, key } = written;
      await ask(written, asking, async () => ({ kind: 'read', item: await store.get(table, key) }));
    },

    /** Writes. 'again': the item was read again meanwhile. Requests that the result does not mention were rejected. */
    async write(written: WrittenItem, write: QueuedWrite, { nowMs, areOthersLeft }: WriteMoment): Promise<SentWrite> {
      const { table, key, seen, deletableMark } = written;
      const { reserved, settled, needsItem } = write;
      const requests = requestsOf(write);
      const mark = settled.length === 0 ? undefined : createMark(randomness, nowMs, deletableMark);
      const drafted = withMarks(write.drafted, mark, deletableMark);
      // A store in the process sends nothing: reading its item costs nothing, and shows what transactions have written
      // meanwhile.
      const isSent = store.transact === undefined;
      const returnsNoItem =
        isSent && seen !== undefined && nowMs - seen.atMs < lookEveryMs && !needsItem && !areOthersLeft;
      const update = { table, key, ...drafted, repeatable: mark === undefined, returnsNoItem };
      try {
        const expectedItem = returnsNoItem ? { ...seen, item: applyChanges(seen.item, drafted.changes) } : undefined;
        const { isRefused, item } = await ask(written, requests, () => store.update(update), expectedItem);
        if (isRefused) return { kind: 'again', requests };
        written.deletableMark = mark;
        for (const { owner } of reserved) if (owner !== undefined) settleOnce.taken(written, owner);
        return { kind: 'written', item };
      } catch (error) {
        // The write may have been made. A write with settlements is sent only once. Reservations of such a write are
        // sent again without the settlements, and at worst are taken twice.
        const settlements = settled.map(({ waiting }) => waiting);
        if (mark !== undefined) settleOnce.markUncertain(written, mark, settlements);
        for (const { reject } of settlements) reject(error);
        const maySendAgain = ({ arrivedAtMs }: QueuedRequest) =>
          mark !== undefined && clock.nowMs() - arrivedAtMs <= unansweredMaxMs;
        for (const request of reserved) if (!maySendAgain(request)) request.reject(error);
        return { kind: 'again', requests: reserved.filter(maySendAgain) };
      }
    },
  };
}
