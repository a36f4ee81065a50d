// One writer per item and process: while a write of an item is under way, requests that want the same item gather, and
// go together in the next one. Each is answered as if it had come alone and in its turn. A request that is alone is
// written at once.
import { createCache } from '../../foundation/cache/index.ts';
import { admissionTimeoutMs, storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { gatherRuns, type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import type { ItemAddress, SeenItem } from './counter.ts';
import { planWrite } from './plan-write.ts';
import type { Assess, Assessment, Correction, ReservationOutcome, Settlement, SettlementOutcome } from './requests.ts';
import { contended, createSettleOnce } from './settle-once.ts';
import { addMark, createMark, deleteMark, type Mark } from './settlement-mark.ts';
import { isReservation, isSettlement, type Ticket, type TicketsWrite, ticketsOf } from './tickets.ts';

/** How long a request may wait in the process for its turn. */
export const queueWaitMaxMs = 10_000;
/** Behind a store that does not answer: one more call must fit into the time of an admission. */
const unansweredMaxMs = admissionTimeoutMs - storeCallTimeoutMs;
/** Each after the first follows a write of another process, or a changed configuration. */
const asksMax = 10;
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
  ): Promise<SettlementOutcome>;
}

export interface ItemWriterOptions {
  readonly store: Pick<Store, 'get' | 'update'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
}

interface Line extends ItemAddress {
  readonly enter: (ticket: Ticket) => void;
  seen: (SeenItem & { readonly number: number }) | undefined;
  /** Of this process's last settlement here, which was answered. */
  deletableMark: Mark | undefined;
}

export function createItemWriter({ store, clock, randomness }: ItemWriterOptions): ItemWriter {
  const lines = createCache<Line>({ sizeMax: rememberedItemsMax });
  const settleOnce = createSettleOnce({ store, clock });
  /** Requests and questions to the store, in their order. */
  let number = 0;

  function lineOf({ table, key }: ItemAddress): Line {
    const name = `${table} ${key}`;
    const known = lines.get(name);
    if (known !== undefined) return known;
    const enter = gatherRuns<Ticket>((tickets) => serve(line, tickets));
    const line: Line = { table, key, enter, seen: undefined, deletableMark: undefined };
    lines.set(name, line);
    return line;
  }

  /** One question to the store at most. Returns those that are not answered yet. */
  async function serve(line: Line, tickets: readonly Ticket[]): Promise<readonly Ticket[]> {
    try {
      const nowMs = clock.nowMs();
      const { write, left } = decide(line, tickets, nowMs);
      if (write === undefined) {
        if (left.length > 0) await ask(line, left, async () => ({ item: await store.get(line.table, line.key) }));
        return left;
      }
      const sent = await send(line, write, nowMs);
      if (sent.kind === 'again') return [...sent.tickets, ...left];
      const { item } = sent;
      for (const { waiting, wasLate } of write.settled) waiting.resolve({ kind: 'settled', item, wasLate });
      for (const { resolve } of write.reserved) resolve({ kind: 'reserved', item, atMs: nowMs });
      return left;
    } catch (error) {
      // The item could not be read; or a mistake of ours, such as a stored limit that is no amount.
      for (const { reject } of tickets) reject(error);
      return [];
    }
  }

  /** Answers those that need no write. */
  function decide(line: Line, tickets: readonly Ticket[], nowMs: number) {
    const inTime = tickets.filter((ticket) => !isRefused(ticket, nowMs));
    if (line.seen !== undefined && line.seen.number > 0 && nowMs - line.seen.atMs > rememberedMs) line.seen = undefined;
    const reservations = inTime.filter(isReservation);
    for (const ticket of reservations) ticket.isSeenAfter = line.seen !== undefined && line.seen.number > ticket.number;
    const { answered, gone, write } = planWrite(reservations, inTime.filter(isSettlement), line.seen, nowMs);
    for (const [{ resolve }, outcome] of answered) resolve(outcome);
    for (const { resolve } of gone) resolve({ kind: 'gone' });
    const done = [...answered.map(([ticket]) => ticket), ...gone, ...ticketsOf(write)];
    if (done.length === inTime.length) return { write, left: [] };
    const isDone = new Set<Ticket>(done);
    return { write, left: inTime.filter((ticket) => !isDone.has(ticket)) };
  }

  /** 'again': by newer knowledge of the item. What is in no answer was rejected. */
  async function send(
    line: Line,
    write: TicketsWrite,
    nowMs: number,
  ): Promise<
    { readonly kind: 'written'; readonly item: Item } | { readonly kind: 'again'; readonly tickets: readonly Ticket[] }
  > {
    const { draft, reserved, settled } = write;
    const written = ticketsOf(write);
    const mark = settled.length === 0 ? undefined : createMark(randomness, nowMs, line.deletableMark);
    if (mark !== undefined) addMark(draft, mark);
    if (line.deletableMark !== undefined) deleteMark(draft, line.deletableMark);
    const update = draft.toUpdate(line.table, line.key, { repeatable: mark === undefined });
    try {
      const { kind, item = {} } = await ask(line, written, () => store.update(update));
      if (kind === 'refused') return { kind: 'again', tickets: written };
      line.deletableMark = mark;
      for (const { owner } of reserved) if (owner !== undefined) settleOnce.taken(line, owner);
      return { kind, item };
    } catch (error) {
      // The write may have been made. Beside settlements it was sent once: a reservation is sent again without them, and
      // at worst it holds twice.
      const settlements = settled.map(({ waiting }) => waiting);
      if (mark !== undefined) settleOnce.doubt(line, mark, settlements);
      for (const { reject } of settlements) reject(error);
      const maySendAgain = ({ arrivedAtMs }: Ticket) =>
        mark !== undefined && clock.nowMs() - arrivedAtMs <= unansweredMaxMs;
      for (const ticket of reserved) if (!maySendAgain(ticket)) ticket.reject(error);
      return { kind: 'again', tickets: reserved.filter(maySendAgain) };
    }
  }

  /** Asks the store, and remembers what it says of the item. */
  async function ask<Result extends { readonly item: Item | undefined }>(
    line: Line,
    asking: readonly Ticket[],
    call: () => Promise<Result>,
  ): Promise<Result> {
    number += 1;
    const asked = { number, atMs: clock.nowMs() };
    for (const ticket of asking) ticket.asks += 1;
    const result = await call();
    line.seen = { item: result.item ?? {}, ...asked };
    return result;
  }

  function isRefused({ arrivedAtMs, asks, reject }: Ticket, nowMs: number): boolean {
    const isOverdue = nowMs - arrivedAtMs > queueWaitMaxMs;
    if (asks >= asksMax) reject(contended());
    else if (isOverdue)
      reject(new StoreUnavailable(new Error(`waited ${queueWaitMaxMs} ms in the process for its turn`)));
    return isOverdue || asks >= asksMax;
  }

  return {
    reserve<Assessed extends Assessment>(
      address: Parameters<ItemWriter['reserve']>[0],
      assess: Assess<Assessed>,
    ): Promise<ReservationOutcome<Assessed>> {
      const line = lineOf(address);
      const { owner, known } = address;
      // Of unknown age.
      if (known !== undefined) line.seen ??= { item: known, atMs: 0, number: 0 };
      const { promise, resolve, reject } = Promise.withResolvers<ReservationOutcome>();
      number += 1;
      const turn = { number, arrivedAtMs: clock.nowMs(), asks: 0, isSeenAfter: false };
      line.enter({ assess, owner, resolve, reject, ...turn });
      // A line serves reservations of all kinds, and refuses each only for what it asked for.
      return promise as Promise<ReservationOutcome<Assessed>>;
    },

    settle: (address, settlement) =>
      settleOnce.settle(address, settlement, () => {
        const { promise, resolve, reject } = Promise.withResolvers<SettlementOutcome>();
        number += 1;
        const turn = { number, arrivedAtMs: clock.nowMs(), asks: 0 };
        lineOf(address).enter({ settlement, owner: address.owner, resolve, reject, ...turn });
        return promise;
      }),
  };
}
