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
import {
  admitKey,
  countKeyRequest,
  type HoldBuckets,
  type KeyAdmission,
  type KeyCount,
  type KeyHold,
  type KeyRequest,
  keySettlement,
  type PaidKeyRequest,
} from './key-admission.ts';
import type { Insufficient, Settlement, SettlementOutcome } from './requests.ts';

export interface Counters {
  /** Throws StoreUnavailable: a settlement of this owner then does nothing, and what may have been taken expires. */
  take(counter: Counter, hold: Hold): Promise<TakeOutcome>;
  /**
   * Ends a hold at its real cost, exactly once however often it is asked: 0 gives all back, more than was held is
   * charged too. Throws StoreUnavailable, and asking again is safe; a RangeError for a negative cost.
   */
  settle(counter: Counter, hold: Hold, actual: bigint): Promise<SettlementOutcome>;
  /** Gives back what has expired. Returns the item as it stands then. */
  giveBackExpired(counter: Counter): Promise<Item>;
  /** One write for a key with limits, and one read for a key without. Throws StoreUnavailable. */
  admitKey(request: PaidKeyRequest): Promise<KeyAdmission>;
  /** The same for a request that holds no money. */
  countKeyRequest(request: KeyRequest): Promise<KeyCount>;
  settleKey(hold: KeyHold, actual: bigint): Promise<SettlementOutcome>;
  /** For counters of other modules. */
  readonly writer: ItemWriter;
}

export type TakeOutcome = { readonly kind: 'taken'; readonly item: Item } | Insufficient;

export interface CountersOptions extends ItemWriterOptions {
  /** How long after its arrival a call may hold something. */
  readonly leaseMs?: number;
  /** Of keys that have none of their own. Left out: any number. */
  readonly keyRequestsPerMinute?: number | undefined;
}

/** A write that was made for others gives back what was seen before it; the next look sees the rest. */
const looksMax = 3;

export function createCounters({
  leaseMs = leaseDefaultMs,
  keyRequestsPerMinute: defaultRequestsPerMinute,
  ...options
}: CountersOptions): Counters {
  const writer = createItemWriter(options);
  const { clock } = options;
  const bucketsOf = ({ expiresAtMs, slot }: Hold): HoldBuckets => {
    const bucketSeconds = bucketSecondsOf(leaseMs);
    const slotBucket = slot === true ? heldAttribute('heldSlots', expiresAtMs, bucketSeconds) : undefined;
    return { bucket: heldAttribute('held', expiresAtMs, bucketSeconds), slotBucket };
  };

  async function settle(
    counter: Counter,
    hold: Hold,
    actual: bigint,
    prepare?: Settlement['prepare'],
  ): Promise<SettlementOutcome> {
    if (actual < 0n) throw new RangeError(`a cost of ${actual}: it must not be negative`);
    const { table, key } = counter;
    const settlement = { kind: 'settle', counter, ...bucketsOf(hold), held: hold.amount, actual, prepare } as const;
    return writer.settle({ table, key, owner: hold.owner }, settlement);
  }

  return {
    writer,
    settle: (counter, hold, actual) => settle(counter, hold, actual),

    async take(counter, hold) {
      checkHold(hold);
      const { table, key, balances, slotsMax = null } = counter;
      const { bucket, slotBucket } = bucketsOf(hold);
      const demand = {
        hold: hold.amount === 0n ? undefined : { bucket, amount: hold.amount },
        balances,
        slot: slotBucket === undefined ? undefined : { bucket: slotBucket, limit: slotsMax },
      };
      const outcome = await writer.reserve({ table, key, owner: hold.owner }, () => demand);
      return outcome.kind === 'reserved' ? { kind: 'taken', item: outcome.item } : outcome;
    },

    async giveBackExpired({ table, key, balances }) {
      for (let look = 1; ; look += 1) {
        const { item } = await writer.reserve({ table, key }, () => ({ balances }));
        const isOver = ({ amount, expiresAtMs }: HeldAmount) => amount > 0n && expiresAtMs <= clock.nowMs();
        if (look === looksMax || !readHeld(item).some(isOver)) return item;
      }
    },

    admitKey: (request) =>
      admitKey(writer, { defaultRequestsPerMinute, ...request }, request.hold && bucketsOf(request.hold)),
    countKeyRequest: (request) => countKeyRequest(writer, { defaultRequestsPerMinute, ...request }),

    settleKey(hold, actual) {
      const { counter, prepare } = keySettlement(hold, clock.nowMs);
      return settle(counter, hold, actual, prepare);
    },
  };
}
