// Parts of one conditional write, made by rules that do not know each other and put together into a single UpdateItem:
// what is checked together is checked in the same instant, and costs one write.
import type { TableName } from '../../foundation/constants/index.ts';
import type { Update } from '../../storage/store/index.ts';

/** `set` holds assignments ("a = a + :b"), `remove` paths, `conditions` what must hold, all of them. */
export interface WriteParts {
  readonly set?: readonly string[];
  readonly remove?: readonly string[];
  readonly conditions?: readonly string[];
  /** `#name` and `:value` placeholders. A placeholder may occur in several parts if it stands for the same there. */
  readonly names?: Readonly<Record<string, string>>;
  readonly values?: Readonly<Record<string, unknown>>;
}

/**
 * One write out of parts. A write whose answer was lost is sent again: every part recognises its own first try, or
 * says why twice does no harm. Throws an Error when two parts mean different things by one placeholder.
 */
export function toUpdate(table: TableName, key: string, parts: readonly WriteParts[]): Update {
  const set = parts.flatMap((part) => part.set ?? []);
  const remove = parts.flatMap((part) => part.remove ?? []);
  const conditions = parts.flatMap((part) => part.conditions ?? []);
  const clauses = [
    ...(set.length === 0 ? [] : [`SET ${set.join(', ')}`]),
    ...(remove.length === 0 ? [] : [`REMOVE ${remove.join(', ')}`]),
  ];
  return {
    table,
    key,
    expression: clauses.join(' '),
    ...(conditions.length === 0 ? {} : { condition: conditions.map((one) => `(${one})`).join(' AND ') }),
    names: merged(parts.map(({ names }) => names)),
    values: merged(parts.map(({ values }) => values)),
    repeatable: true,
  };
}

function merged<Value>(records: readonly (Readonly<Record<string, Value>> | undefined)[]): Record<string, Value> {
  const all: Record<string, Value> = {};
  for (const [placeholder, value] of records.flatMap((record) => Object.entries(record ?? {}))) {
    if (placeholder in all && all[placeholder] !== value) throw new Error(`two parts of a write use ${placeholder}`);
    all[placeholder] = value;
  }
  return all;
}
