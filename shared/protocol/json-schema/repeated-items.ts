// Whether lists repeat an item, in one pass: the validator compares each with each other one, and 20,000 items take it a minute.
import type { Schema } from '@cfworker/json-schema';
import { isObject } from './json-value.ts';

/** Whether a list anywhere in a value, the value itself included, has two equal items. */
function hasRepeatedItems(value: unknown): boolean {
  const ids = new Map<string, number>();
  let isRepeated = false;
  /** Equal for equal values alone. */
  const idOf = (text: string): number => {
    const id = ids.get(text) ?? ids.size;
    ids.set(text, id);
    return id;
  };
  const identify = (one: unknown): number => {
    if (Array.isArray(one)) {
      const items = one.map(identify);
      isRepeated ||= new Set(items).size < items.length;
      return idOf(`[${items.join()}]`);
    }
    if (typeof one === 'string') return idOf(`"${one}`);
    if (!isObject(one)) return idOf(String(one));
    const names = Object.keys(one).sort();
    return idOf(`{${names.map((name) => `${idOf(`"${name}`)}:${identify(one[name])}`).join()}}`);
  };
  identify(value);
  return isRepeated;
}

/** Runs the rules of schemas on a value; where none of its lists repeats an item, that is not looked at again. */
export function withItemsSeen<Result>(value: unknown, wantUnique: readonly Schema[], run: () => Result): Result {
  if (wantUnique.length === 0 || hasRepeatedItems(value)) return run();
  for (const schema of wantUnique) schema.uniqueItems = false;
  try {
    return run();
  } finally {
    for (const schema of wantUnique) schema.uniqueItems = true;
  }
}
