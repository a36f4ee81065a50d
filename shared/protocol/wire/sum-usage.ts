// Adds up the usage of several provider calls, with counts at any depth, under the providers' names. The gateway's own
// fields are merged in afterwards.
import { isJsonObject, type JsonObject } from './json-body.ts';

/** Maximum nesting. `completion_tokens_details` is the deepest object in use. Deeper objects are dropped. */
const depthMax = 3;

/** Returns undefined if no provider reported anything. */
export function sumUsage(reported: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const usages = reported.filter((usage) => usage !== undefined);
  return usages.length === 0 ? undefined : usages.reduce((sum, usage) => add(sum, usage, depthMax), {});
}

function add(sum: JsonObject, usage: JsonObject, depth: number): JsonObject {
  // The fields are in a Map, because a field may be called __proto__.
  const members = new Map(Object.entries(sum));
  for (const [name, value] of Object.entries(usage)) {
    const former = members.get(name);
    if (isCount(value)) members.set(name, (isCount(former) ? former : 0) + value);
    else if (isJsonObject(value)) {
      if (depth > 1) members.set(name, add(isJsonObject(former) ? former : {}, value, depth - 1));
    } else if (former === undefined && typeof value !== 'number') members.set(name, value);
  }
  return Object.fromEntries(members);
}

/** True for a valid count, because negative numbers and NaN must never give credit. */
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
