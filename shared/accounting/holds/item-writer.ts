// One writer per item and process: while a write of an item is under way, requests that want the same item gather, and
// go together in the next one. Each is answered as if it had come alone and in its turn. A request that is alone is
// written at once.
import { createCache } from '../../foundation/cache/index.ts';
import { admissionTimeoutMs, storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import { type Clock, nextTurn } from '../../foundation/time/index.ts';
import { type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import type { ItemAddress, SeenItem } from './counter.ts';
import { planWrite, type Waiting } from './plan-write.ts';
import type { Answer, Request, Reservation } from './requests.ts';
import { contended, createSettleOnce } from './settle-once.ts';
import { addMark, createMark, deleteMark, type Mark } from './settlement-mark.ts';

/** How long a request may wait in the process for its turn (contract 19). */
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
  reserve<Reason>(
    address: ItemAddress & { readonly owner?: string | undefined; readonly known?: Item | undefined },
    reservation: Reservation<Reason>,
  ): Promise<Answer<Reason>>;
  /**
   * Once per owner and item, however often it is asked; 'gone': done before, or this process has made no such
   * reservation. Throws StoreUnavailable: ask again.
   */
  settle(address: ItemAddress & { readonly owner: string }, request: Request<never>): Promise<Answer<never>>;
}

export interface ItemWriterOptions {
  readonly store: Pick<Store, 'get' | 'update'>;
  readonly clock: Clock;
  readonly randomness: Pick<Randomness, 'bytes'>;
}

/** Callers with reasons of their own share a queue, and each gets its own back. */
type Reason = unknown;

interface Ticket extends Waiting<Reason> {
  readonly owner: string | undefined;
  readonly number: number;
  readonly arrivedAtMs: number;
  isSeenAfter: boolean;
  asks: number;
  readonly resolve: (answer: Answer<Reason>) => void;
  readonly reject: (error: unknown) => void;
}

interface Line extends ItemAddress {
  waiting: Ticket[];
  isBusy: boolean;
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
    const line: Line = { table, key, waiting: [], isBusy: false, seen: undefined, deletableMark: undefined };
    lines.set(name, line);
    return line;
  }

  function submit(line: Line, request: Request<Reason>, owner: string | undefined): Promise<Answer<Reason>> {
    const { promise, ...settlers } = Promise.withResolvers<Answer<Reason>>();
    number += 1;
    const unasked = { isSeenAfter: false, asks: 0 };
    line.waiting.push({ request, owner, number, arrivedAtMs: clock.nowMs(), ...unasked, ...settlers });
    if (!line.isBusy) void serve(line);
    return promise;
  }

  async function serve(line: Line): Promise<void> {
    line.isBusy = true;
    while (line.waiting.length > 0) {
      try {
        await serveNext(line);
      } catch (error) {
        // A mistake of ours, such as a stored limit that is no amount: no later try would end better.
        for (const { reject } of line.waiting.splice(0)) reject(error);
      }
      // What else wants this item in the same turn of the event loop goes into the same write.
      if (line.waiting.length > 0) await nextTurn();
    }
    line.isBusy = false;
  }

  async function serveNext(line: Line): Promise<void> {
    const nowMs = clock.nowMs();
    line.waiting = line.waiting.filter((ticket) => !isRefused(ticket, nowMs));
    if (line.seen !== undefined && line.seen.number > 0 && nowMs - line.seen.atMs > rememberedMs) line.seen = undefined;
    for (const ticket of line.waiting) ticket.isSeenAfter = line.seen !== undefined && line.seen.number > ticket.number;
    const { answered, write } = planWrite<Reason, Ticket>(line.waiting, line.seen, nowMs);
    for (const [{ resolve }, answer] of answered) resolve(answer);
    const gone = new Set([...answered.map(([ticket]) => ticket), ...(write?.entries ?? [])]);
    line.waiting = line.waiting.filter((ticket) => !gone.has(ticket));
    if (write === undefined) return line.waiting.length === 0 ? undefined : look(line);

    const { draft, entries, answer } = write;
    const settlements = entries.filter(({ request }) => request.kind !== 'reserve');
    const mark = settlements.length === 0 ? undefined : createMark(randomness, nowMs, line.deletableMark);
    if (mark !== undefined) addMark(draft, mark);
    if (line.deletableMark !== undefined) deleteMark(draft, line.deletableMark);
    const update = draft.toUpdate(line.table, line.key, { repeatable: mark === undefined });
    try {
      const { kind, item = {} } = await ask(line, entries, () => store.update(update));
      if (kind === 'refused') return again(line, entries);
      line.deletableMark = mark;
      for (const entry of entries) {
        if (entry.request.kind === 'reserve' && entry.owner !== undefined) settleOnce.taken(line, entry.owner);
        entry.resolve(answer(entry, item));
      }
    } catch (error) {
      // The write may have been made. Beside settlements it was sent once: a reservation is sent again without them, and
      // at worst it holds twice.
      if (mark !== undefined) settleOnce.doubt(line, mark, settlements);
      const maySendAgain = ({ request, arrivedAtMs }: Ticket) =>
        mark !== undefined && request.kind === 'reserve' && clock.nowMs() - arrivedAtMs <= unansweredMaxMs;
      for (const entry of entries) if (!maySendAgain(entry)) entry.reject(error);
      again(line, entries.filter(maySendAgain));
    }
  }

  const again = (line: Line, tickets: readonly Ticket[]): void => {
    line.waiting = [...tickets, ...line.waiting];
  };

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

  async function look(line: Line): Promise<void> {
    const asking = [...line.waiting];
    try {
      await ask(line, asking, async () => ({ item: await store.get(line.table, line.key) }));
    } catch (error) {
      line.waiting = line.waiting.filter((ticket) => !asking.includes(ticket));
      for (const ticket of asking) ticket.reject(error);
    }
  }

  function isRefused({ arrivedAtMs, asks, reject }: Ticket, nowMs: number): boolean {
    const isOverdue = nowMs - arrivedAtMs > queueWaitMaxMs;
    if (asks >= asksMax) reject(contended());
    else if (isOverdue)
      reject(new StoreUnavailable(new Error(`waited ${queueWaitMaxMs} ms in the process for its turn`)));
    return isOverdue || asks >= asksMax;
  }

  return {
    reserve(address, reservation) {
      const line = lineOf(address);
      // Of unknown age.
      if (address.known !== undefined) line.seen ??= { item: address.known, atMs: 0, number: 0 };
      return submit(line, reservation as Reservation<Reason>, address.owner) as Promise<Answer<never>>;
    },
    settle: (address, request) =>
      settleOnce.settle(
        address,
        request,
        () => submit(lineOf(address), request, address.owner) as Promise<Answer<never>>,
      ),
  };
}
