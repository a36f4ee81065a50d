// Reserves amounts in counters. Such a reservation is called a hold: the most that a call may consume is reserved
// before the call, and settled to the real use after it. Credit, budgets, spend limits of keys and concurrency slots
// are counters. Counters are created once per process, because concurrent calls share the writes of a counter.
import { createCache } from '../../foundation/cache/index.ts';
import { holdLifeMs as holdLifeDefaultMs } from '../../foundation/constants/index.ts';
import { createEveryNth, type Randomness } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import { coalesceRuns, type Item, retryWrite } from '../../storage/store/index.ts';
import {
  bucketSecondsOf,
  type Counter,
  faultOfHold,
  type HeldAmount,
  type Hold,
  heldAttribute,
  readAvailable,
  readHeldAmounts,
  slotBalance,
} from './counter.ts';
import { createItemWriter, type ItemWriter, type ItemWriterOptions, type SettlementOptions } from './item-writer.ts';
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
import { keyCharge } from './key-limits.ts';
import type { CounterReserved, Insufficient, Settlement, SettlementOutcome } from './requests.ts';

export interface Counters {
  /**
   * Reserves an amount. Throws StoreUnavailable: a settlement of this owner then does nothing, and an amount that may
   * have been taken expires.
   */
  take(counter: Counter, hold: Hold): Promise<TakeOutcome>;
  /**
   * Ends a reservation at its real cost, exactly once however often it is called. A cost of 0 releases the whole
   * reservation, and a cost above the reservation is charged too. Throws StoreUnavailable, and calling it again is
   * safe; a RangeError for a negative cost.
   */
  settle(counter: Counter, hold: Hold, actual: bigint, options?: SettlementOptions): Promise<SettlementOutcome>;
  /** Releases expired reservations. Returns the item afterwards. */
  releaseExpired(counter: Counter): Promise<Item>;
  /**
   * Admits a request of a key, with one write for a key with limits, and one read for a key without limits. Throws
   * StoreUnavailable.
   */
  admitKey(request: PaidKeyRequest): Promise<KeyAdmission>;
  /** Counts a request that reserves no money. */
  countKeyRequest(request: KeyRequest): Promise<KeyCount>;
  settleKey(hold: KeyHold, actual: bigint, options?: SettlementOptions): Promise<SettlementOutcome>;
  /**
   * Charges a key of which nothing was reserved. Call it once. After a failure the charge must not be repeated, except
   * with its transaction.
   */
  chargeKey(charge: KeyCharge, amount: bigint, options?: Pick<SettlementOptions, 'transaction'>): Promise<void>;
  /**
   * True if, as far as this process knows, enough slots of the counter are free that the release of a slot may be
   * delayed.
   */
  hasSpareSlots(counter: Counter): boolean;
  /** Writer for counters of other modules. */
  readonly writer: ItemWriter;
}

type TakeOutcome = { readonly kind: 'taken' } | Insufficient;
const toTaken = (outcome: CounterReserved | Insufficient): TakeOutcome =>
  outcome.kind === 'reserved' ? { kind: 'taken' } : outcome;

interface CountersOptions extends ItemWriterOptions {
  /** Lifetime of a reservation from the arrival of its call. */
  readonly holdLifeMs?: number;
  /** True if calls of one key share the write of spending without a limit. The default is false. */
  readonly sharesCharges?: boolean;
  /** Requests per minute of keys that set no limit; no limit if absent. */
  readonly keyRequestsPerMinute?: number | undefined;
  readonly randomness: Pick<Randomness, 'bytes' | 'fraction'>;
}

/**
 * Default of a counter's `spareSlotsMin`: half of a shard of a large pool, more than other processes take while a
 * settlement may wait for its batch.
 */
const spareSlotsMinDefault = 25n;
/**
 * Maximum number of requests for which one request is counted. The default rate only keeps one caller from slowing
 * others, so if it is the only reason for a write, one of ten requests is counted for all ten, and at a smaller rate
 * one of fewer. Six hundred counts a minute are exact to a few percent.
 */
const requestsPerCountMax = 10;
const countsPerMinuteMin = 600;
/** Maximum number of keys whose next counted request is remembered. */
const sampledKeysMax = 5_000;
/**
 * Maximum number of tries of a release. A write for other requests releases amounts that were seen before it, and the
 * next try sees the rest.
 */
const looksMax = 3;

export function createCounters({
  holdLifeMs = holdLifeDefaultMs,
  keyRequestsPerMinute: defaultRequestsPerMinute,
  sharesCharges: isShared = false,
  ...options
}: CountersOptions): Counters {
  const writer = createItemWriter(options);
  const { clock, randomness } = options;
  const chargeKey = createKeyCharges({ writer, clock, isShared });
  const samplingOf = createSampling(defaultRequestsPerMinute, randomness);
  const bucketsOf = ({ expiresAtMs, slot }: Hold): HoldBuckets => {
    const bucketSeconds = bucketSecondsOf(holdLifeMs);
    const slotBucket = slot === true ? heldAttribute('heldSlots', expiresAtMs, bucketSeconds) : undefined;
    return { bucket: heldAttribute('held', expiresAtMs, bucketSeconds), slotBucket };
  };

  function settle(
    counter: Counter,
    hold: Hold,
    actual: bigint,
    { isAwaited, transaction, part, ...more }: Pick<Settlement, 'prepare'> & SettlementOptions = {},
  ): Promise<SettlementOutcome> {
    if (actual < 0n) return Promise.reject(new RangeError(`a cost of ${actual}: it must not be negative`));
    const address = { table: counter.table, key: counter.key, owner: hold.owner };
    const options = { isAwaited, transaction, part };
    if (part === 'amount' && hold.amount === 0n) {
      const requiredAttribute = slotBalance(null).attribute;
      const charge = { kind: 'charge', counter, amount: actual, requiredAttribute, known: {}, ...more } as const;
      return writer.settle(address, charge, options);
    }
    const { bucket, slotBucket } = bucketsOf(hold);
    const settlement = {
      kind: 'settle',
      ...{ counter, bucket, actual, ...more },
      held: part === 'slot' ? 0n : hold.amount,
      slotBucket: part === 'amount' ? undefined : slotBucket,
    } as const;
    return writer.settle(address, settlement, options);
  }

  function take(counter: Counter, hold: Hold): Promise<TakeOutcome> {
    const fault = faultOfHold(hold);
    if (fault !== undefined) return Promise.reject(fault);
    const { table, key, balances, slotsMax = null } = counter;
    const { bucket, slotBucket } = bucketsOf(hold);
    const demand = {
      hold: hold.amount === 0n ? undefined : { bucket, amount: hold.amount },
      balances,
      slot: slotBucket === undefined ? undefined : { bucket: slotBucket, limit: slotsMax },
    };
    return writer.reserve({ table, key, owner: hold.owner }, () => demand, toTaken);
  }

  function hasSpareSlots(counter: Counter): boolean {
    const item = writer.seen(counter);
    if (item === undefined) return false;
    const { balances, slotsMax, spareSlotsMin = spareSlotsMinDefault } = counter;
    const free = readAvailable(slotsMax === undefined ? balances : [slotBalance(slotsMax)], item);
    return free === null || free >= spareSlotsMin;
  }

  return {
    writer,
    hasSpareSlots,
    settle: (counter, hold, actual, options) => settle(counter, hold, actual, options),
    take,

    async releaseExpired({ table, key, balances }) {
      for (let look = 1; ; look += 1) {
        const { item } = await writer.reserve({ table, key }, () => ({ balances, needsItem: true }));
        const isOver = ({ amount, expiresAtMs }: HeldAmount) => amount > 0n && expiresAtMs <= clock.nowMs();
        if (look === looksMax || !readHeldAmounts(item).some(isOver)) return item;
      }
    },

    admitKey: (request) => {
      const defaults = { defaultRequestsPerMinute, sampling: samplingOf(request.publicId) };
      return admitKey(writer, { ...defaults, ...request }, request.hold && bucketsOf(request.hold));
    },
    chargeKey,
    countKeyRequest: (request) => countKeyRequest(writer, { defaultRequestsPerMinute, ...request }),

    settleKey({ publicId, ...hold }, actual, options) {
      const { counter, prepare } = keySettlement(publicId, clock.nowMs);
      return settle(counter, hold, actual, { ...options, prepare });
    },
  };
}

function createSampling(
  defaultRequestsPerMinute: number | undefined,
  randomness: Pick<Randomness, 'fraction'>,
): (publicId: string) => KeyRequest['sampling'] {
  const requestsPerCount = requestsPerCountOf(defaultRequestsPerMinute ?? 0);
  if (requestsPerCount === 1) return () => undefined;
  const samplers = createCache<() => boolean>({ sizeMax: sampledKeysMax });
  return (publicId) => {
    const isNth = samplers.get(publicId) ?? createEveryNth(requestsPerCount, randomness);
    samplers.set(publicId, isNth);
    /** The decision is made once, and stays the same when other writes come first and the request is assessed again. */
    let isOne: boolean | undefined;
    return {
      requestsPerCount,
      isCounted() {
        isOne ??= isNth();
        return isOne;
      },
    };
  };
}

const requestsPerCountOf = (requestsPerMinute: number): number =>
  Math.min(requestsPerCountMax, Math.max(1, Math.floor(requestsPerMinute / countsPerMinuteMin)));

// Charges the spending of keys without a limit, which is shown and never refuses a call. The charge is a separate write
// after the call. In a process that outlives its calls, calls of one key share a write a second; a single charge is
// written at once. A store with transactions writes the charge together with the call's record.

/** Longest delay of a key's shown spending. */
const chargeEveryMs = 1_000;
/** Maximum number of keys that are remembered; a charge of any other key is written at once. */
const chargedKeysMax = 5_000;

interface KeyCharge {
  readonly publicId: string;
  readonly owner: string;
  /** The item as it was last seen, which has the period of the key. */
  readonly known: Item;
}

interface KeyChargesOptions {
  readonly writer: ItemWriter;
  readonly clock: Clock;
  /** True if calls share writes. */
  readonly isShared: boolean;
}

/**
 * Returns a function that charges once each time it is called; after a failure a charge must not be repeated, except
 * with its transaction.
 */
function createKeyCharges({ writer, clock, isShared }: KeyChargesOptions) {
  const queues = createCache<(charge: KeyCharge & { readonly amount: bigint }) => Promise<void>>({
    sizeMax: chargedKeysMax,
  });

  const settle = ({ publicId, owner, known }: KeyCharge, amount: bigint, options: SettlementOptions) =>
    writer.settle(
      { table: 'keys', key: publicId, owner },
      { ...keyCharge(publicId, clock.nowMs), known, amount },
      options,
    );

  async function charge(spending: KeyCharge, amount: bigint): Promise<void> {
    await retryWrite(clock, () => settle(spending, amount, { isAwaited: !isShared })).catch(notRepeatable);
  }

  function queueOf(publicId: string) {
    const known = queues.get(publicId);
    if (known !== undefined) return known;
    let lastAtMs = Number.NEGATIVE_INFINITY;
    const queue = coalesceRuns(
      (charges: readonly (KeyCharge & { readonly amount: bigint })[]) => {
        lastAtMs = clock.nowMs();
        const [first] = charges;
        const amount = charges.reduce((sum, one) => sum + one.amount, 0n);
        return first === undefined ? Promise.resolve() : charge(first, amount);
      },
      { clock, gatherMs: () => Math.max(0, lastAtMs + chargeEveryMs - clock.nowMs()) },
    );
    queues.set(publicId, queue);
    return queue;
  }

  return async (
    spending: KeyCharge,
    amount: bigint,
    { transaction }: Pick<SettlementOptions, 'transaction'> = {},
  ): Promise<void> => {
    if (amount === 0n) return;
    if (transaction !== undefined) await settle(spending, amount, { transaction });
    else await (isShared ? queueOf(spending.publicId)({ ...spending, amount }) : charge(spending, amount));
  };
}

/** Throws for a write that may have been made, because the mark by which it counts once belongs to these tries. */
function notRepeatable(cause: unknown): never {
  throw new Error('the spending of a key was not counted', { cause });
}
