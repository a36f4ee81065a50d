// The item that counts one shard of one entry, and how it reads at a moment. One index dates all counters: the day
// follows from the minute.
//
//   pk                           provider#<provider id>#<model id>#<shard>
//   minute_index                 minutes since the epoch of the last window that was opened
//   minute_requests, minute_tokens, day_tokens                              that window, and its day
//   previous_minute_requests, previous_minute_tokens, previous_day_tokens   the minute and the day before
//   expires_at_epoch_seconds     when all of it weighs nothing; the index says so too, so late deletion does no harm
import type { Item } from '../../storage/store/index.ts';
import { type CounterName, counterNames, type Demands, type LimitedEntry } from './limits.ts';
import { dayMs, leftOfWindowMs, minuteMs, type WindowCount, waitUntilFitsMs } from './window.ts';

/**
 * Clocks of Lambda differ by milliseconds. An item further ahead than this was dated by a broken clock: it is not
 * followed, or the entry would stay shut until that time comes.
 */
const clockSkewMaxMs = 60_000;

export interface CounterForm {
  readonly current: string;
  readonly previous: string;
  readonly windowMs: number;
}

export const counterForms: Readonly<Record<CounterName, CounterForm>> = {
  minuteRequests: { current: 'minute_requests', previous: 'previous_minute_requests', windowMs: minuteMs },
  minuteTokens: { current: 'minute_tokens', previous: 'previous_minute_tokens', windowMs: minuteMs },
  dayTokens: { current: 'day_tokens', previous: 'previous_day_tokens', windowMs: dayMs },
};

export interface CounterState {
  readonly minute: number;
  readonly counts: Readonly<Record<CounterName, WindowCount>>;
}

export const counterKeyOf = ({ provider, model }: LimitedEntry, shard: number): string =>
  `provider#${provider}#${model}#${shard}`;

/** Undefined where nothing is counted yet. */
export function stateOf(item: Item | undefined): CounterState | undefined {
  if (item?.minute_index === undefined) return undefined;
  const countOf = ({ current, previous }: CounterForm): WindowCount => ({
    current: Number(item[current] ?? 0),
    previous: Number(item[previous] ?? 0),
  });
  return { minute: Number(item.minute_index), counts: mapCounters((name) => countOf(counterForms[name])) };
}

export const mapCounters = <Value>(of: (name: CounterName) => Value): Record<CounterName, Value> =>
  Object.fromEntries(counterNames.map((name) => [name, of(name)])) as Record<CounterName, Value>;

export interface Moment {
  readonly atMs: number;
  readonly minute: number;
}

/**
 * The moment by which an item is judged: now, but never before the window that the item has opened. An instance whose
 * clock is behind thus joins that window at its very beginning, where the previous one weighs most.
 */
export function momentOf(nowMs: number, itemMinute: number | undefined): Moment {
  const opensMs = (itemMinute ?? 0) * minuteMs;
  const atMs = opensMs > nowMs && opensMs - nowMs <= clockSkewMaxMs ? opensMs : nowMs;
  return { atMs, minute: Math.floor(atMs / minuteMs) };
}

/** What happens to a counter when its item passes from one minute to another: into the next window, or further. */
export type Step = 'stay' | 'shift' | 'clear';

export function stepOf(fromMinute: number, toMinute: number, windowMs: number): Step {
  const windowOf = (minute: number) => Math.floor((minute * minuteMs) / windowMs);
  const passed = windowOf(toMinute) - windowOf(fromMinute);
  // Below zero only where an item of a broken clock is dated back: its counts stay in force.
  if (passed <= 0) return 'stay';
  return passed === 1 ? 'shift' : 'clear';
}

/** Milliseconds from now until all demands fit; 0 where they do. */
export function waitOf(state: CounterState | undefined, demands: Demands, nowMs: number): number {
  if (state === undefined) return 0;
  const { atMs, minute } = momentOf(nowMs, state.minute);
  const waits = counterNames.map((name) => {
    const { windowMs } = counterForms[name];
    const { need, limit } = demands[name];
    if (limit === null) return 0;
    const count = afterStep(state.counts[name], stepOf(state.minute, minute, windowMs));
    return waitUntilFitsMs(count, need, limit, leftOfWindowMs(atMs, windowMs), windowMs);
  });
  const wait = Math.max(...waits);
  return wait === 0 ? 0 : wait + (atMs - nowMs);
}

function afterStep(count: WindowCount, step: Step): WindowCount {
  if (step === 'stay') return count;
  return { current: 0, previous: step === 'shift' ? count.current : 0 };
}
