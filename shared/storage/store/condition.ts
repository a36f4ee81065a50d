// Conditions of a write as values: one adapter renders them as DynamoDB's expressions, the other evaluates them, and a
// rule that the process decides by itself calls `holds`.
import { type Item, isEqual, isNumber } from './item.ts';

/** An attribute, or a field of a map in an attribute. */
export type AttributePath = string | readonly [attribute: string, field: string];

/** Values with an order. Of two values of different types neither is less than the other. */
type Ordered = string | number | bigint;

/**
 * A condition on the item under the key; if there is no item, every attribute is absent. A stored null is not absent.
 */
export type Condition =
  | { readonly kind: 'exists' | 'absent'; readonly at: AttributePath }
  | { readonly kind: 'equals'; readonly at: AttributePath; readonly value: unknown }
  | {
      readonly kind: 'less' | 'atMost' | 'atLeast';
      readonly at: AttributePath;
      readonly value: Ordered;
    }
  | { readonly kind: 'contains'; readonly at: AttributePath; readonly element: string }
  | { readonly kind: 'and' | 'or'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition };

export const exists = (at: AttributePath): Condition => ({ kind: 'exists', at });
export const absent = (at: AttributePath): Condition => ({ kind: 'absent', at });
/** Tests equality. False if the attribute is absent. */
export const equals = (at: AttributePath, value: unknown): Condition => ({ kind: 'equals', at, value });
/** Tests the order. This test and the three below are false if the attribute is absent. */
export const less = (at: AttributePath, value: Ordered): Condition => ({ kind: 'less', at, value });
export const atMost = (at: AttributePath, value: Ordered): Condition => ({ kind: 'atMost', at, value });
export const atLeast = (at: AttributePath, value: Ordered): Condition => ({ kind: 'atLeast', at, value });
/** Tests a set of texts for an element. False if the attribute is absent. */
export const contains = (at: AttributePath, element: string): Condition => ({ kind: 'contains', at, element });
/**
 * Tests whether the attribute still has the value that was read. An undefined `value` means that the attribute was
 * absent.
 */
export const unchanged = (at: AttributePath, value: unknown): Condition =>
  value === undefined ? absent(at) : equals(at, value);
/** Combines at least one condition. */
export const and = (...of: readonly Condition[]): Condition => ({ kind: 'and', of });
export const or = (...of: readonly Condition[]): Condition => ({ kind: 'or', of });
export const not = (of: Condition): Condition => ({ kind: 'not', of });

/** True if a write with this condition would be made to this item. */
export function holds(condition: Condition, item: Item | undefined): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.of.every((each) => holds(each, item));
    case 'or':
      return condition.of.some((each) => holds(each, item));
    case 'not':
      return !holds(condition.of, item);
    case 'exists':
      return valueAt(item, condition.at) !== undefined;
    case 'absent':
      return valueAt(item, condition.at) === undefined;
    case 'equals':
      return isEqual(valueAt(item, condition.at), condition.value);
    case 'contains': {
      const value = valueAt(item, condition.at);
      return value instanceof Set && value.has(condition.element);
    }
    default: {
      const order = orderOf(valueAt(item, condition.at), condition.value);
      return order !== undefined && inOrder[condition.kind](order);
    }
  }
}

const inOrder = {
  less: (order: number) => order < 0,
  atMost: (order: number) => order <= 0,
  atLeast: (order: number) => order >= 0,
} as const;

function valueAt(item: Item | undefined, at: AttributePath): unknown {
  if (typeof at === 'string') return item?.[at];
  const map = item?.[at[0]];
  return isMap(map) ? map[at[1]] : undefined;
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Set) &&
  !(value instanceof Uint8Array);

/** Returns the order of the values; undefined when they have none. */
function orderOf(left: unknown, right: Ordered): number | undefined {
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  // DynamoDB orders texts by their bytes in UTF-8.
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
