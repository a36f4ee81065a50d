// Changes of an update as values. An attribute occurs in one field only, or in one field and in `remove`. Then `remove`
// is skipped if the other change writes the attribute, because the attribute is still in use, and `remove` takes
// precedence over `removeElements`.
import type { Item } from './item.ts';

export interface Changes {
  readonly set?: Item;
  /** Sets attributes only if they are absent. A stored null is not absent. */
  readonly setIfAbsent?: Item;
  /**
   * Gives an absent attribute the value that another attribute had before this write. Maps the attribute to its source,
   * which exists.
   */
  readonly copyIfAbsent?: Readonly<Record<string, string>>;
  /** Adds to a number; an absent number counts as 0. Integers have up to 38 digits. */
  readonly add?: Readonly<Record<string, number | bigint>>;
  /** Adds elements to a set of texts, which is created with its first element. At least one element. */
  readonly addElements?: Readonly<Record<string, ReadonlySet<string>>>;
  /**
   * Removes elements from a set. A set is removed with its last element, because there are no empty sets. At least one
   * element.
   */
  readonly removeElements?: Readonly<Record<string, ReadonlySet<string>>>;
  /** Removes attributes; an absent one stays absent. */
  readonly remove?: readonly string[];
}

/** Thrown for a change that no store can make to this item, for example an addition to a text. */
export class ChangeImpossible extends Error {
  override readonly name = 'ChangeImpossible';
}

/** Returns a new item and leaves the given one unchanged. Throws ChangeImpossible. */
export function applyChanges(item: Item, changes: Changes): Item {
  const result: Item = { ...item };
  const removed = removedBy(changes);
  for (const attribute of removed) delete result[attribute];
  eachOf(changes.set, (attribute, value) => {
    if (value !== undefined) result[attribute] = value;
  });
  eachOf(changes.setIfAbsent, (attribute, value) => {
    if (item[attribute] === undefined && value !== undefined) result[attribute] = value;
  });
  eachOf(changes.copyIfAbsent, (attribute, source) => {
    const value = item[attribute] === undefined ? item[source] : item[attribute];
    if (value === undefined) throw new ChangeImpossible(`${source} is absent: nothing to copy`);
    result[attribute] = value;
  });
  eachOf(changes.add, (attribute, amount) => {
    result[attribute] = sum(attribute, item, amount);
  });
  eachOf(changes.addElements, (attribute, elements) => {
    result[attribute] = setAt(item, attribute).union(elements);
  });
  eachOf(changes.removeElements, (attribute, elements) => {
    if (removed.includes(attribute)) return;
    const remaining = setAt(item, attribute).difference(elements);
    if (remaining.size > 0) result[attribute] = remaining;
    else delete result[attribute];
  });
  return result;
}

/** Calls `change` for each attribute of one kind of changes. Most writes have two of the seven kinds. */
function eachOf<Value>(
  changes: Readonly<Record<string, Value>> | undefined,
  change: (attribute: string, value: Value) => void,
): void {
  if (changes === undefined) return;
  for (const attribute in changes) change(attribute, changes[attribute] as Value);
}

/** Returns the attributes that are absent afterwards, whatever they were. */
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
