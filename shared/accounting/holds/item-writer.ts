// One writer per item and process: while a write of an item is under way, requests that want the same item gather, and
// go together in the next one. Each is answered as if it had come alone and in its turn. A request that is alone is
// written at once.
import { createCache } from '../../foundation/cache/index.ts';
import { admissionTimeoutMs, storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import {
  applyChanges,
  type ConditionalResult,
  type Gathering,
  gatherRuns,
  type Item,
  type Store,
  StoreUnavailable,
} from '../../storage/store/index.ts';
import type { ItemAddress, SeenItem } from './counter.ts';
import { planWrite } from './plan-write.ts';
import { isReservation, isSettlement, type QueuedRequest, type QueuedWrite, requestsOf } from './queued-requests.ts';
import type { Assess, Assessment, Correction, ReservationOutcome, Settlement, SettlementOutcome } from './requests.ts';
import { contended, createSettleOnce } from './settle-once.ts';
import { createMark, type Mark, withMarks } from './settlement-mark.ts';

/** How long a request may wait in the process for its turn. */
export const queueWaitMaxMs = 10_000;
/** Behind a store that does not answer: one more call must fit into the time of an admission. */
const unansweredMaxMs = admissionTimeoutMs - storeCallTimeoutMs;
/** Each after the first follows a write of another process, or a changed configuration. */
const asksMax = 10;
/**
 * A write is answered without its item where that is known from a look, and what others have done to it since is neither
 * asked for nor in the way: conditions guard what is written. What others leave behind in it is seen at the next look.
 */
const lookEveryMs = 1_000;
/** Items remembered as they were last answered, some 3 KB each. */
const rememberedItemsMax = 5_000;
/** Items of limits are deleted and made anew when they were idle for two days. */
const rememberedMs = 3_600_000;

export interface ItemWriter {
  /**
   * Throws StoreUnavailable, also for a request that waited too long for its turn. Then it is not known whether anything
   * was taken, and it cannot be settled: what was taken ends by itself. `owner`: who is to settle it. `known`: an older
   * copy of the item, which saves a read and decides nothing.
   */
  reserve<Assessed extends Assessment>(
    address: ItemAddress & { readonly owner?: string | undefined; readonly known?: Item | undefined },
    assess: Assess<Assessed>,
  ): Promise<ReservationOutcome<Assessed>>;
  /**
   * Once per owner and item, however often it is asked; 'gone': done before, or this process has made no such
   * reservation. Throws StoreUnavailable: ask again.
   */
  settle(
    address: ItemAddress & { readonly owner: string },
    settlement: Settlement | Correction,
    options?: SettlementOptions,
  ): Promise<SettlementOutcome>;
  /** The item as this process knows it; undefined: it does not. */
  seen(address: ItemAddress): Item | undefined;
}

export interface SettlementOptions {
  /** Default true. False: where the process is busy it is written with what comes next for the item. */
  readonly isAwaited?: boolean | undefined;
}

export interface ItemWriterOptions {
  readonly store: Pick<Store, 'get' | 'update'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
  /** Of settlements that are not awaited. Left out: they are written at once. */
  readonly gathering?: Gathering | undefined;
}

interface ItemQueue extends ItemAddress {
  readonly enter: (request: QueuedRequest, isAwaited?: boolean) => void;
  seen: (SeenItem & { readonly number: number }) | undefined;
  /** Of this process's last settlement here, which was answered. */
  deletableMark: Mark | undefined;
}

export function createItemWriter({ store, clock, randomness, gathering }: ItemWriterOptions): ItemWriter {
  const queues = createCache<ItemQueue>({ sizeMax: rememberedItemsMax });
  const settleOnce = createSettleOnce({ store, clock });
  /** Requests and questions to the store, in their order. */
  let number = 0;

  function queueOf({ table, key }: ItemAddress): ItemQueue {
    const name = `${table} ${key}`;
    const known = queues.get(name);
    if (known !== undefined) return known;
    const enter = gatherRuns<QueuedRequest>((requests) => serve(queue, requests), gathering);
    const queue: ItemQueue = { table, key, enter, seen: undefined, deletableMark: undefined };
    queues.set(name, queue);
    return queue;
  }

  /** One question to the store at most. Returns those that are not answered yet. */
  async function serve(queue: ItemQueue, requests: readonly QueuedRequest[]): Promise<readonly QueuedRequest[]> {
    try {
      const nowMs = clock.nowMs();
      const { write, left } = decide(queue, requests, nowMs);
      if (write === undefined) {
        if (left.length > 0)
          await ask(queue, left, async () => ({ kind: 'read', item: await store.get(queue.table, queue.key) }));
        return left;
      }
      const sent = await send(queue, write, nowMs, left.length > 0);
      if (sent.kind === 'again') return [...sent.requests, ...left];
      const { item } = sent;
      for (const { waiting, wasLate } of write.settled) waiting.resolve({ kind: 'settled', item, wasLate });
      for (const { resolve } of write.reserved) resolve({ kind: 'reserved', item, atMs: nowMs });
      return left;
    } catch (error) {
      // The item could not be read; or a mistake of ours, such as a stored limit that is no amount.
      for (const { reject } of requests) reject(error);
      return [];
    }
  }

  /** Answers those that need no write. */
  function decide(queue: ItemQueue, requests: readonly QueuedRequest[], nowMs: number) {
    const inTime = requests.filter((request) => !isRefused(request, nowMs));
    if (queue.seen !== undefined && queue.seen.number > 0 && nowMs - queue.seen.atMs > rememberedMs)
      queue.seen = undefined;
    const reservations = inTime.filter(isReservation);
    for (const request of reservations)
      request.isSeenAfter = queue.seen !== undefined && queue.seen.number > request.number;
    const { answered, gone, write } = planWrite(reservations, inTime.filter(isSettlement), queue.seen, nowMs);
    for (const [{ resolve }, outcome] of answered) resolve(outcome);
    for (const { resolve } of gone) resolve({ kind: 'gone' });
    const done = [...answered.map(([request]) => request), ...gone, ...requestsOf(write)];
    if (done.length === inTime.length) return { write, left: [] };
    const isDone = new Set<QueuedRequest>(done);
    return { write, left: inTime.filter((request) => !isDone.has(request)) };
  }

  /** 'again': by newer knowledge of the item. What is in no answer was rejected. `areOthersLeft`: the answer decides on them. */
  async function send(
    queue: ItemQueue,
    write: QueuedWrite,
    nowMs: number,
    areOthersLeft: boolean,
  ): Promise<
    | { readonly kind: 'written'; readonly item: Item }
    | { readonly kind: 'again'; readonly requests: readonly QueuedRequest[] }
  > {
    const { table, key } = queue;
    const { reserved, settled, looks } = write;
    const written = requestsOf(write);
    const mark = settled.length === 0 ? undefined : createMark(randomness, nowMs, queue.deletableMark);
    const drafted = withMarks(write.drafted, mark, queue.deletableMark);
    const { seen } = queue;
    const returnsNoItem = seen !== undefined && nowMs - seen.atMs < lookEveryMs && !looks && !areOthersLeft;
    const update = { table, key, ...drafted, repeatable: mark === undefined, returnsNoItem };
    try {
      const made = returnsNoItem ? { ...seen, item: applyChanges(seen.item, drafted.changes) } : undefined;
      const { isRefused, item } = await ask(queue, written, () => store.update(update), made);
      if (isRefused) return { kind: 'again', requests: written };
      queue.deletableMark = mark;
      for (const { owner } of reserved) if (owner !== undefined) settleOnce.taken(queue, owner);
      return { kind: 'written', item };
    } catch (error) {
      // The write may have been made. Beside settlements it was sent once: a reservation is sent again without them, and
      // at worst it holds twice.
      const settlements = settled.map(({ waiting }) => waiting);
      if (mark !== undefined) settleOnce.doubt(queue, mark, settlements);
      for (const { reject } of settlements) reject(error);
      const maySendAgain = ({ arrivedAtMs }: QueuedRequest) =>
        mark !== undefined && clock.nowMs() - arrivedAtMs <= unansweredMaxMs;
      for (const request of reserved) if (!maySendAgain(request)) request.reject(error);
      return { kind: 'again', requests: reserved.filter(maySendAgain) };
    }
  }

  /**
   * Asks the store, and remembers what it says of the item. `made`: what the write makes of the item as it was seen, where
   * the answer does not say; it is as old as that look.
   */
  async function ask(
    queue: ItemQueue,
    asking: readonly QueuedRequest[],
    call: () => Promise<{ readonly kind: ConditionalResult['kind'] | 'read'; readonly item: Item | undefined }>,
    made?: ItemQueue['seen'],
  ): Promise<{ readonly isRefused: boolean; readonly item: Item }> {
    number += 1;
    const asked = { number, atMs: clock.nowMs() };
    for (const request of asking) request.asks += 1;
    const { kind, item = {} } = await call();
    const seen = made !== undefined && kind === 'written' ? made : { item, ...asked };
    queue.seen = seen;
    return { isRefused: kind === 'refused', item: seen.item };
  }

  function isRefused({ arrivedAtMs, asks, reject }: QueuedRequest, nowMs: number): boolean {
    const isOverdue = nowMs - arrivedAtMs > queueWaitMaxMs;
    if (asks >= asksMax) reject(contended());
    else if (isOverdue)
      reject(new StoreUnavailable(new Error(`waited ${queueWaitMaxMs} ms in the process for its turn`), 'write_queue'));
    return isOverdue || asks >= asksMax;
  }

  return {
    reserve<Assessed extends Assessment>(
      address: Parameters<ItemWriter['reserve']>[0],
      assess: Assess<Assessed>,
    ): Promise<ReservationOutcome<Assessed>> {
      const queue = queueOf(address);
      const { owner, known } = address;
      // Of unknown age.
      if (known !== undefined) queue.seen ??= { item: known, atMs: 0, number: 0 };
      const { promise, resolve, reject } = Promise.withResolvers<ReservationOutcome>();
      number += 1;
      const turn = { number, arrivedAtMs: clock.nowMs(), asks: 0, isSeenAfter: false };
      queue.enter({ assess, owner, resolve, reject, ...turn });
      // A queue serves reservations of all kinds, and refuses each only for what it asked for.
      return promise as Promise<ReservationOutcome<Assessed>>;
    },

    settle: (address, settlement, { isAwaited } = {}) =>
      settleOnce.settle(address, settlement, () => {
        const { promise, resolve, reject } = Promise.withResolvers<SettlementOutcome>();
        number += 1;
        const turn = { number, arrivedAtMs: clock.nowMs(), asks: 0 };
        queueOf(address).enter({ settlement, owner: address.owner, resolve, reject, ...turn }, isAwaited);
        return promise;
      }),

    seen: ({ table, key }) => queues.get(`${table} ${key}`)?.seen?.item,
  };
}
