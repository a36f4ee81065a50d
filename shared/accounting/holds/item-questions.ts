// The store calls of an item's writer: it reads the item, or writes it for the waiting requests.
import { admissionTimeoutMs, storeCallTimeoutMs } from '../../foundation/constants/index.ts';
import type { Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { applyChanges, type ConditionalResult, type Item, type Store } from '../../storage/store/index.ts';
import type { ItemAddress, SeenItem } from './counter.ts';
import { type QueuedRequest, type QueuedWrite, requestsOf } from './plan-write.ts';
import type { SettleOnce } from './settle-once.ts';
import { createMark, type Mark, withMarks } from './settlement-mark.ts';

/** Behind a store that does not answer: one more call must fit into the time of an admission. */
const unansweredMaxMs = admissionTimeoutMs - storeCallTimeoutMs;
/**
 * If read less than a second ago, the write asks for no item back; its conditions still hold. Changes by others are
 * seen at the next look.
 */
const lookEveryMs = 1_000;

/** This process's knowledge of an item that it writes. */
export interface WrittenItem extends ItemAddress {
  seen: (SeenItem & { readonly number: number }) | undefined;
  /** Mark of this process's last settlement here, whose write was answered. */
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
  /** The answer decides on them. */
  readonly areOthersLeft: boolean;
}

export function createItemQuestions({ store, clock, randomness, settleOnce, nextNumber }: QuestionOptions) {
  /** Remembers the returned item. `made`: the item as the write makes it from the last look, and as old as that. */
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

    /** 'again': after newer knowledge of the item. Requests that the result does not mention were rejected. */
    async write(written: WrittenItem, write: QueuedWrite, { nowMs, areOthersLeft }: WriteMoment): Promise<SentWrite> {
      const { table, key, seen, deletableMark } = written;
      const { reserved, settled, needsItem } = write;
      const requests = requestsOf(write);
      const mark = settled.length === 0 ? undefined : createMark(randomness, nowMs, deletableMark);
      const drafted = withMarks(write.drafted, mark, deletableMark);
      // A store in the process sends nothing: its item costs nothing, and has what transactions have written meanwhile.
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
        // The write may have been made. Beside settlements it was sent once: a reservation is sent again without them,
        // and at worst it is taken twice.
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
