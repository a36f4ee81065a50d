// Changes of an update as values. An attribute is in one of the records only. But `remove` may name it too: it is
// skipped where another change writes the attribute, which is still in use, and wins over `removeElements`.
import type { Item } from './item.ts';

export interface Changes {
  readonly set?: Item;
  /** Only where the attribute is absent. A stored null is not absent. */
  readonly setIfAbsent?: Item;
  /**
   * By target: copies the value that another attribute has before this write, unless the target has one. The source
   * exists.
   */
  readonly copyIfAbsent?: Readonly<Record<string, string>>;
  /** Moves a number; an absent one is 0. Integers of up to 38 digits. */
  readonly add?: Readonly<Record<string, number | bigint>>;
  /** Elements of a set of texts; the set begins with the first. Never empty. */
  readonly addElements?: Readonly<Record<string, ReadonlySet<string>>>;
  /** The set ends with its last element: there are no empty ones. Never empty. */
  readonly removeElements?: Readonly<Record<string, ReadonlySet<string>>>;
  /** An attribute that is absent stays so. */
  readonly remove?: readonly string[];
}

/** A write that no store can make of this item: text is no number, a number is no set. */
export class ChangeImpossible extends Error {
  override readonly name = 'ChangeImpossible';
}

/** A new item; the one that is given stays as it is. Throws ChangeImpossible. */
export function applyChanges(item: Item, changes: Changes): Item {
  const result: Item = { ...item };
  const removed = removedBy(changes);
  for (const attribute of removed) delete result[attribute];
  for (const [attribute, value] of Object.entries(changes.set ?? {}))
    if (value !== undefined) result[attribute] = value;
  for (const [attribute, value] of Object.entries(changes.setIfAbsent ?? {}))
    if (item[attribute] === undefined && value !== undefined) result[attribute] = value;
  for (const [attribute, source] of Object.entries(changes.copyIfAbsent ?? {})) {
    const value = item[attribute] === undefined ? item[source] : item[attribute];
    if (value === undefined) throw new ChangeImpossible(`${source} is absent: nothing to copy`);
    result[attribute] = value;
  }
  for (const [attribute, amount] of Object.entries(changes.add ?? {})) result[attribute] = sum(attribute, item, amount);
  for (const [attribute, elements] of Object.entries(changes.addElements ?? {}))
    result[attribute] = setAt(item, attribute).union(elements);
  for (const [attribute, elements] of Object.entries(changes.removeElements ?? {})) {
    if (removed.includes(attribute)) continue;
    const remaining = setAt(item, attribute).difference(elements);
    if (remaining.size > 0) result[attribute] = remaining;
    else delete result[attribute];
  }
  return result;
}

/** Attributes that are gone afterwards, whatever they were. */
export function removedBy({ remove = [], removeElements: _elements, ...written }: Changes): string[] {
  if (remove.length === 0) return [];
  const names = new Set(Object.values(written).flatMap((record) => Object.keys(record ?? {})));
  return remove.filter((attribute) => !names.has(attribute));
}

function sum(attribute: string, item: Item, amount: number | bigint): number | bigint {
  const before = item[attribute] ?? 0;
  if (item[attribute] === null || (typeof before !== 'number' && typeof before !== 'bigint'))
    throw new ChangeImpossible(`${attribute} is no number`);
  const total = BigInt(before) + BigInt(amount);
  const asNumber = Number(total);
  return Number.isSafeInteger(asNumber) ? asNumber : total;
}

function setAt(item: Item, attribute: string): ReadonlySet<string> {
  const value = item[attribute] ?? new Set<string>();
  if (item[attribute] === null || !(value instanceof Set)) throw new ChangeImpossible(`${attribute} is no set`);
  return value;
}
