// Takes a hold: one write where nothing stands in the way.
import { type CallOptions, type Item, type Store, StoreUnavailable } from '../../storage/store/index.ts';
import { type Counter, checkHold, type Hold } from './counter.ts';
import { planTake } from './plan-take.ts';
import { toUpdate } from './write-parts.ts';

/** Each try after the first follows a write of somebody else's that got through, or gives back 20 dead holds. */
const triesMax = 8;

export interface TakeRequest {
  readonly store: Store;
  readonly counter: Counter;
  readonly hold: Hold;
  readonly nowMs: number;
  readonly options?: CallOptions;
}

export type TakeResult =
  | { readonly kind: 'taken'; readonly item: Item }
  /** `available` counts what expired holds would give back. The item is {} where there is none. */
  | { readonly kind: 'insufficient'; readonly available: bigint; readonly item: Item };

/** Throws StoreUnavailable, also where so many others write at once that no try got through. */
export async function takeHold({ store, counter, hold, nowMs, options }: TakeRequest): Promise<TakeResult> {
  checkHold(hold);
  let seen: Item | undefined;
  for (let tried = 0; tried < triesMax; tried += 1) {
    const plan = planTake(counter, hold, seen, nowMs);
    if (plan.kind === 'insufficient') return { ...plan, item: seen ?? {} };
    if (plan.kind === 'standing') return { kind: 'taken', item: seen ?? {} };
    const result = await store.update(toUpdate(counter.table, counter.key, [plan.parts]), options);
    seen = result.item ?? {};
    if (result.kind === 'written' && plan.kind === 'take') return { kind: 'taken', item: seen };
  }
  throw contended();
}

/** For the client the same as a store that is down: try again soon. */
export const contended = (): StoreUnavailable =>
  new StoreUnavailable(new Error('other writes came first in every try'));
