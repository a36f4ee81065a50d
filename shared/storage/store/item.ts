// Defines an item: texts, numbers, booleans, nulls, bytes, sets of texts, lists and maps, by attribute.

export type Item = Record<string, unknown>;

export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Compares by value, as DynamoDB does: lists in order, maps and sets without order, numbers whatever their type. */
export function isEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  // `<` compares a bigint and a number by their values.
  if (isNumber(left) && isNumber(right)) return !(left < right) && !(left > right);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (left instanceof Uint8Array || right instanceof Uint8Array)
    return left instanceof Uint8Array && right instanceof Uint8Array && Buffer.compare(left, right) === 0;
  if (left instanceof Set || right instanceof Set)
    return left instanceof Set && right instanceof Set && left.size === right.size && left.isSubsetOf(right);
  if (Array.isArray(left) || Array.isArray(right))
    return (
      Array.isArray(left) &&
      Array.isArray(right) &&
      left.length === right.length &&
      left.every((each, at) => isEqual(each, right[at]))
    );
  return isEqualMap(left as Item, right as Item);
}

function isEqualMap(left: Item, right: Item): boolean {
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isEqual(left[name], right[name]))
  );
}
