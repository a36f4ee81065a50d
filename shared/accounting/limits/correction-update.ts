// What a call took is corrected where it now stands: in the current window, in the previous one, or nowhere any more.
import type { Update } from '../../storage/store/index.ts';
import { type CounterState, counterForms, stepOf } from './counters.ts';
import { type CounterName, counterNames } from './limits.ts';

export type Amounts = Readonly<Partial<Record<CounterName, number>>>;

/**
 * `fresh` is the item as a refusal showed it; before the first try there is none and `itemMinute` is a guess that the
 * condition proves. Undefined: nothing is left to correct.
 */
export function correctionUpdate(
  key: string,
  takenInMinute: number,
  changes: Amounts,
  itemMinute: number,
  fresh?: CounterState,
): Update | undefined {
  const conditions = ['minute_index = :minute'];
  const assignments: string[] = [];
  const values: Record<string, number> = { ':minute': itemMinute };
  for (const name of counterNames) {
    const change = changes[name] ?? 0;
    const step = stepOf(takenInMinute, itemMinute, counterForms[name].windowMs);
    if (change === 0 || step === 'clear') continue;
    const place = step === 'stay' ? 'current' : 'previous';
    // The item was deleted or dated anew since: what it counts now is not what this call took.
    if (fresh !== undefined && fresh.counts[name][place] + change < 0) continue;
    const attribute = counterForms[name][place];
    assignments.push(`${attribute} = ${attribute} + :${name}Change`);
    values[`:${name}Change`] = change;
    if (change > 0) continue;
    conditions.push(`${attribute} >= :${name}Taken`);
    values[`:${name}Taken`] = -change;
  }
  if (assignments.length === 0) return undefined;
  const expression = `SET ${assignments.join(', ')}`;
  return { table: 'limits', key, expression, condition: conditions.join(' AND '), values };
}
