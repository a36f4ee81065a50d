// Takes from counters and corrects them, each with conditional writes that are never based on a read: what an instance
// remembers is only a guess that the condition proves, and a refusal brings the truth along.
// No write here may be repeated blindly. One whose answer was lost may have taken a slot that nobody uses; it comes
// free with its window.

import type { Clock } from '../../foundation/time/index.ts';
import type { CallOptions, Store, Update } from '../../storage/store/index.ts';
import { type Amounts, correctionUpdate } from './correction-update.ts';
import { type CounterState, stateOf, waitOf } from './counters.ts';
import type { Demands } from './limits.ts';
import { supposedState, takeUpdate } from './take-update.ts';

/** An outdated guess, a lost race to open the window and a late settlement cost one write each; more is no accident. */
const takeTriesMax = 5;
/** Said when others were faster every time although there is room. */
const contendedRetryMs = 50;
/** An outdated guess, then at most one new window while the correction is on its way. */
const correctionTriesMax = 3;
/** Items an instance remembers: entries times shards of a large catalogue. */
const rememberedItemsMax = 10_000;

export type Taken =
  | { readonly kind: 'taken' /** The window in which it counts. */; readonly minute: number }
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

export interface CounterStore {
  take(key: string, demands: Demands, options?: CallOptions): Promise<Taken>;
  /** Changes what was taken in `minute`. Does nothing where it has left every window. */
  correct(key: string, minute: number, changes: Amounts, options?: CallOptions): Promise<void>;
}

export function createCounterStore({ store, clock }: { readonly store: Store; readonly clock: Clock }): CounterStore {
  /** A Map keeps the order of insertion, and every answer inserts anew: the first entry is the one unused for longest. */
  const remembered = new Map<string, CounterState>();

  function remember(key: string, state: CounterState | undefined): void {
    remembered.delete(key);
    if (state !== undefined) remembered.set(key, state);
    const [oldest] = remembered.keys();
    if (remembered.size > rememberedItemsMax && oldest !== undefined) remembered.delete(oldest);
  }

  async function write(update: Update, options: CallOptions | undefined) {
    const { kind, item } = await store.update(update, options);
    const state = stateOf(item);
    remember(update.key, state);
    return { kind, state };
  }

  return {
    async take(key, demands, options) {
      let seen: CounterState | undefined = remembered.get(key) ?? supposedState(demands, clock.nowMs());
      for (let tried = 1; tried <= takeTriesMax; tried += 1) {
        const askedAtMs = clock.nowMs();
        const { kind, state } = await write(takeUpdate(key, seen, demands, askedAtMs), options);
        if (kind === 'written' && state !== undefined) return { kind: 'taken', minute: state.minute };
        // Judged by the moment of the question: at a busy limit room appears every few milliseconds, and to ask again
        // for it at once would multiply the writes of everybody.
        const waitMs = waitOf(state, demands, askedAtMs);
        if (waitMs > 0) return { kind: 'limited', retryAfterMs: Math.max(1, waitMs - (clock.nowMs() - askedAtMs)) };
        seen = state;
      }
      return { kind: 'limited', retryAfterMs: contendedRetryMs };
    },

    async correct(key, minute, changes, options) {
      let itemMinute = remembered.get(key)?.minute ?? minute;
      let fresh: CounterState | undefined;
      for (let tried = 1; tried <= correctionTriesMax; tried += 1) {
        const update = correctionUpdate(key, minute, changes, itemMinute, fresh);
        if (update === undefined) return;
        const { kind, state } = await write(update, options);
        if (kind === 'written' || state === undefined) return;
        fresh = state;
        itemMinute = state.minute;
      }
    },
  };
}
