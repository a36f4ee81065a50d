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

/** Numbers kept as text become numbers, and nobody else holds the copy. Undefined: the value is no JSON. */
export function plainCopy(value: unknown): { readonly copy: unknown; readonly bytes: number } | undefined {
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? undefined : { copy: JSON.parse(text), bytes: Buffer.byteLength(text) };
}
