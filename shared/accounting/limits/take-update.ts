// The one write that admits a call: all counters or none. DynamoDB cannot multiply, so what the previous window weighs
// is worked out here, and the condition holds the write to the values it was worked out from.
import type { Update } from '../../storage/store/index.ts';
import { type CounterState, counterForms, mapCounters, momentOf, stepOf } from './counters.ts';
import { type CounterName, counterNames, type Demands } from './limits.ts';
import { dayMs, leftOfWindowMs, minuteMs, previousMax, weightOf } from './window.ts';

/** A day's count still weighs during the next day: two windows of the longest kind. */
const daysKept = 2;

/** Parts of an update: conditions are joined by AND, assignments by commas. */
interface Draft {
  readonly conditions: string[];
  readonly assignments: string[];
  readonly values: Record<string, number>;
}

/**
 * What an instance supposes of an item that it has not seen: somebody has opened the present minute, and the previous
 * one was full. Where that leaves room, and mostly it does, a cold instance is admitted by its first write.
 */
export function supposedState(demands: Demands, nowMs: number): CounterState {
  const { minute } = momentOf(nowMs, undefined);
  return { minute, counts: mapCounters((name) => ({ current: 0, previous: demands[name].limit ?? 0 })) };
}

/** `seen` is the item as last seen; undefined says that there is none. */
export function takeUpdate(key: string, seen: CounterState | undefined, demands: Demands, nowMs: number): Update {
  const { atMs, minute } = momentOf(nowMs, seen?.minute);
  const draft: Draft = { conditions: [], assignments: [], values: {} };
  date(draft, seen?.minute, minute);
  for (const name of counterNames) {
    const leftMs = leftOfWindowMs(atMs, counterForms[name].windowMs);
    const step = seen === undefined ? 'clear' : stepOf(seen.minute, minute, counterForms[name].windowMs);
    if (step === 'shift') shift(draft, name, demands, leftMs);
    else if (step === 'clear') clear(draft, name, demands);
    else add(draft, name, demands, seen?.counts[name].previous ?? 0, leftMs);
  }
  return {
    table: 'limits',
    key,
    expression: `SET ${draft.assignments.join(', ')}`,
    condition: draft.conditions.join(' AND '),
    values: draft.values,
  };
}

/** Only one of many instances opens a window: for all others `minute_index` is then another one. */
function date(draft: Draft, fromMinute: number | undefined, toMinute: number): void {
  if (fromMinute === undefined) {
    draft.conditions.push('attribute_not_exists(minute_index)');
  } else {
    draft.conditions.push('minute_index = :from');
    draft.values[':from'] = fromMinute;
  }
  if (fromMinute === toMinute) return;
  draft.assignments.push('minute_index = :minute', 'expires_at_epoch_seconds = :expires');
  draft.values[':minute'] = toMinute;
  draft.values[':expires'] = ((Math.floor((toMinute * minuteMs) / dayMs) + daysKept) * dayMs) / 1_000;
}

/** Within a window `previous` is moved by late settlements only. A lower one than was seen leaves more room, not less. */
function add(draft: Draft, name: CounterName, demands: Demands, seenPrevious: number, leftMs: number): void {
  const { need, limit } = demands[name];
  const { current, previous, windowMs } = counterForms[name];
  if (limit === null) return;
  const room = limit - weightOf(seenPrevious, leftMs, windowMs) - need;
  draft.conditions.push(`${current} <= :${name}Room`, `${previous} <= :${name}Previous`);
  // Counts are never negative: -1 lets nobody in, and the refusal brings the item as it is.
  draft.values[`:${name}Room`] = Math.max(room, -1);
  draft.values[`:${name}Previous`] = Math.min(seenPrevious, Number.MAX_SAFE_INTEGER);
  draft.assignments.push(`${current} = ${current} + :${name}Need`);
  draft.values[`:${name}Need`] = need;
}

/** The store moves its own count, not the one seen: all right-hand sides are read before anything is written. */
function shift(draft: Draft, name: CounterName, demands: Demands, leftMs: number): void {
  const { need, limit } = demands[name];
  const { current, previous, windowMs } = counterForms[name];
  draft.assignments.push(`${previous} = ${current}`, `${current} = :${name}Need`);
  draft.values[`:${name}Need`] = need;
  if (limit === null) return;
  draft.conditions.push(`${current} <= :${name}Former`);
  draft.values[`:${name}Former`] = previousMax(limit - need, leftMs, windowMs);
}

function clear(draft: Draft, name: CounterName, demands: Demands): void {
  const { current, previous } = counterForms[name];
  draft.assignments.push(`${previous} = :zero`, `${current} = :${name}Need`);
  draft.values[':zero'] = 0;
  draft.values[`:${name}Need`] = demands[name].need;
}
