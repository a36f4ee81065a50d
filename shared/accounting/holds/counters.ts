// Holds on counters: what a call may consume is held before, and settled to what it really consumed after. Credit,
// budgets, spend limits of keys and concurrency slots stand on this. Made once per process: calls that want the same
// counter at the same time share its writes.
import { leaseMs as leaseDefaultMs } from '../../foundation/constants/index.ts';
import type { Item } from '../../storage/store/index.ts';
import {
  bucketSecondsOf,
  type Counter,
  checkHold,
  type HeldAmount,
  type Hold,
  heldAttribute,
  readHeld,
} from './counter.ts';
import { createItemWriter, type ItemWriter, type ItemWriterOptions } from './item-writer.ts';
import { admitKey, type KeyAdmission, type KeyAdmissionRequest, type KeyHold, keySettlement } from './key-admission.ts';
import type { Settlement } from './requests.ts';

export interface Counters {
  /** Throws StoreUnavailable: a settlement of this owner then does nothing, and what may have been taken expires. */
  take(counter: Counter, hold: Hold): Promise<TakeResult>;
  /**
   * Ends a hold at its real cost, exactly once however often it is asked: 0 gives all back, more than was held is
   * charged too. Throws StoreUnavailable, and asking again is safe; a RangeError for a negative cost.
   */
  settle(counter: Counter, hold: Hold, actual: bigint): Promise<SettleResult>;
  /** Gives back what has expired. Returns the item as it stands then. */
  giveBackExpired(counter: Counter): Promise<Item>;
  /** One write for a key with limits, and one read for a key without. Throws StoreUnavailable. */
  admitKey(request: KeyAdmissionRequest): Promise<KeyAdmission>;
  settleKey(hold: KeyHold, actual: bigint): Promise<SettleResult>;
  /** For counters of other modules. */
  readonly writer: ItemWriter;
}

export type TakeResult =
  | { readonly kind: 'taken'; readonly item: Item }
  /** `available` counts what expired holds give back. */
  | { readonly kind: 'insufficient'; readonly available: bigint; readonly item: Item };

export type SettleResult =
  /** `wasLate`: the hold had expired and was given back, so the cost was charged without cover. */
  | { readonly kind: 'settled'; readonly wasLate: boolean; readonly item: Item }
  /** Settled before, or not known to be taken. */
  | { readonly kind: 'gone' };

export interface CountersOptions extends ItemWriterOptions {
  /** How long after its arrival a call may hold something. */
  readonly leaseMs?: number;
}

/** A write that was made for others gives back what was seen before it; the next look sees the rest. */
const looksMax = 3;

export function createCounters({ leaseMs = leaseDefaultMs, ...options }: CountersOptions): Counters {
  const writer = createItemWriter(options);
  const { clock } = options;
  const bucketOf = ({ expiresAtMs }: Hold): string => heldAttribute(expiresAtMs, bucketSecondsOf(leaseMs));

  async function settle(
    counter: Counter,
    hold: Hold,
    actual: bigint,
    prepare?: Settlement['prepare'],
  ): Promise<SettleResult> {
    if (actual < 0n) throw new RangeError(`a cost of ${actual}: it must not be negative`);
    const { table, key } = counter;
    const request = { kind: 'settle', counter, bucket: bucketOf(hold), held: hold.amount, actual, prepare } as const;
    const answer = await writer.settle({ table, key, owner: hold.owner }, request);
    if (answer.kind === 'settled' || answer.kind === 'gone') return answer;
    throw new Error(`a settlement ended as ${answer.kind}`);
  }

  return {
    writer,
    settle: (counter, hold, actual) => settle(counter, hold, actual),

    async take(counter, hold) {
      checkHold(hold);
      const { table, key, balances } = counter;
      const demand = { hold: { bucket: bucketOf(hold), amount: hold.amount }, balances };
      const reservation = { kind: 'reserve', assess: () => demand } as const;
      const answer = await writer.reserve({ table, key, owner: hold.owner }, reservation);
      if (answer.kind === 'reserved') return { kind: 'taken', item: answer.item };
      if (answer.kind === 'insufficient') return answer;
      throw new Error(`a take ended as ${answer.kind}`);
    },

    async giveBackExpired({ table, key, balances }) {
      for (let look = 1; ; look += 1) {
        const answer = await writer.reserve({ table, key }, { kind: 'reserve', assess: () => ({ balances }) });
        if (answer.kind !== 'reserved') throw new Error(`a look at a counter ended as ${answer.kind}`);
        const { item } = answer;
        const isOver = ({ amount, expiresAtMs }: HeldAmount) => amount > 0n && expiresAtMs <= clock.nowMs();
        if (look === looksMax || !readHeld(item).some(isOver)) return item;
      }
    },

    admitKey: (request) => admitKey(writer, request, request.hold && bucketOf(request.hold)),

    settleKey(hold, actual) {
      const { counter, prepare } = keySettlement(hold, clock.nowMs);
      return settle(counter, hold, actual, prepare);
    },
  };
}
