// Questions about parsed JSON that never recurse further than asked.
import { isRawNumber } from '../../foundation/ids/index.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether more than `max` objects and arrays stand inside each other. */
export const nestsDeeperThan = (value: unknown, max: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !isRawNumber(value) &&
  (max === 0 || Object.values(value).some((member) => nestsDeeperThan(member, max - 1)));

/** A copy of its own in which numbers kept as text are numbers. Undefined: the value is no JSON. */
export function plainCopy(value: unknown): { readonly copy: unknown } | undefined {
  const text = jsonText(value);
  return text === undefined ? undefined : { copy: JSON.parse(text) };
}

/** Undefined: the value is no JSON. */
export const jsonText = (value: unknown): string | undefined => JSON.stringify(value) as string | undefined;
