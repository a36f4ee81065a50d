// Ends a hold at its real cost, exactly once however often it is asked, and puts right what it meets on the way: the
// client has its answer by then, so healing costs nobody time.
import { type CallOptions, type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import { type Counter, findHold } from './counter.ts';
import { settleParts } from './hold-parts.ts';
import { healParts } from './reclaim-parts.ts';
import { toUpdate } from './write-parts.ts';

/** An entry changes once, to 0, and then goes: a third try cannot find it changed again. */
const triesMax = 3;

export interface SettleRequest {
  readonly store: Store;
  readonly counter: Counter;
  readonly owner: string;
  /** What was taken. */
  readonly held: bigint;
  /** The real cost: 0 gives all back, more than was held is charged too. */
  readonly actual: bigint;
  readonly nowMs: number;
  readonly options?: CallOptions;
}

export type SettleResult =
  /** `wasLate`: the hold had expired and was given back, so the cost was charged without cover. */
  | { readonly kind: 'settled'; readonly wasLate: boolean; readonly item: Item }
  /** No entry: settled before (a first try whose answer was lost, say), or `lateSettlementMs` too late. */
  | { readonly kind: 'gone' };

/** Throws StoreUnavailable; asking again is safe. Throws a RangeError for a negative cost. */
export async function settleHold(request: SettleRequest): Promise<SettleResult> {
  const { store, counter, owner, actual, nowMs, options } = request;
  if (actual < 0n) throw new RangeError(`a cost of ${actual}: it must not be negative`);
  let held = request.held;
  for (let tried = 0; tried < triesMax; tried += 1) {
    const update = toUpdate(counter.table, counter.key, [settleParts(counter, owner, held, actual)]);
    const { kind, item = {} } = await store.update(update, options);
    if (kind === 'written') {
      await heal(store, counter, item, nowMs, options);
      return { kind: 'settled', wasLate: held === 0n, item };
    }
    const standing = findHold(item, owner);
    if (standing === undefined) return { kind: 'gone' };
    held = standing.amount;
  }
  throw new Error('the entry of a hold changed more often than it can');
}

/** One write at most, and none where nothing is to be done. Somebody who came first did the same. */
async function heal(
  store: Store,
  counter: Counter,
  item: Item,
  nowMs: number,
  options: CallOptions | undefined,
): Promise<void> {
  const parts = healParts(counter, item, nowMs);
  if (parts === undefined) return;
  try {
    await store.update(toUpdate(counter.table, counter.key, [parts]), options);
  } catch (error) {
    // The settlement is done and must not be reported as failed; the next request meets the same entries.
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}
