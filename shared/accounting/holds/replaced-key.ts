// The money of a key that a rotation has replaced: until it ends its calls count against the spend limit of the key that
// took its place, so that a rotation buys no second limit.
import type { Item } from '../../storage/store/index.ts';
import type { Hold } from './counter.ts';
import type { ItemWriter } from './item-writer.ts';
import { requireAsSeen, settingAttributes } from './key-admission.ts';
import { balanceLimit, keyCounter, openPeriod, successorOf } from './key-limits.ts';
import type { Demand, Refusal } from './requests.ts';

/** Rotations of a key that was rotated within its grace. The last of them has the money where there are more. */
const successorsMax = 8;

export type SuccessorTake =
  | { readonly kind: 'taken'; readonly spendingId: string }
  /** Nothing limits it. */
  | { readonly kind: 'unlimited' }
  | { readonly kind: 'insufficient'; readonly available: bigint };

type SpendDemand = Pick<Demand, 'hold' | 'balances' | 'prepare'>;
type NotHere = { readonly next: string } | 'unlimited';

export async function takeFromSuccessor(
  writer: ItemWriter,
  successorId: string,
  { owner, amount }: Hold,
  bucket: string,
): Promise<SuccessorTake> {
  let spendingId = successorId;
  for (let left = successorsMax; ; left -= 1) {
    const address = { table: 'keys', key: spendingId, owner } as const;
    const outcome = await writer.reserve(address, (seen, nowMs): SpendDemand | Refusal<NotHere> | 'look' => {
      if (seen === undefined) return 'look';
      const { item } = seen;
      const next = left > 0 ? successorOf(item) : undefined;
      if (next !== undefined) return { reason: { next }, isFinal: true };
      const limit = balanceLimit(item, nowMs);
      if (limit === null) return { reason: 'unlimited', isFinal: false };
      return {
        hold: { bucket, amount },
        balances: keyCounter(spendingId, limit).balances,
        prepare: (draft) => {
          requireAsSeen(draft, item, settingAttributes);
          openPeriod(draft, item, nowMs);
        },
      };
    });
    if (outcome.kind === 'reserved') return { kind: 'taken', spendingId };
    if (outcome.kind === 'insufficient') return { kind: 'insufficient', available: outcome.available };
    if (outcome.reason === 'unlimited') return { kind: 'unlimited' };
    spendingId = outcome.reason.next;
  }
}

/** The item whose spend limit and spending are those of a key: its own, or that of the key which replaced it. */
export async function spendingItemOf(item: Item, read: (publicId: string) => Promise<Item | undefined>): Promise<Item> {
  let found = item;
  for (let left = successorsMax; left >= 0; left -= 1) {
    const successorId = successorOf(found);
    const successor = successorId === undefined ? undefined : await read(successorId);
    if (successor === undefined) return found;
    found = successor;
  }
  return found;
}
