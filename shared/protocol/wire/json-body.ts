// The body of a request as JSON, with a bound on its nesting: everything behind this file may recurse.
import { isUtf8 } from 'node:buffer';
import { isRawNumber, parseJson } from '../../foundation/ids/index.ts';

/** Real requests nest about ten deep; a JSON Schema for structured output adds at most 32 (contract 3). */
const depthMax = 128;

export type JsonBody =
  | { readonly kind: 'object'; readonly value: Record<string, unknown> }
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      /** The top-level member that nests too deep, where that is what is wrong. */
      readonly tooDeepIn?: string;
    };

/** Reads bytes as one JSON object. Never throws. */
export function readJsonBody(bytes: Buffer): JsonBody {
  // Decoded all the same, a prompt would reach the provider with other characters than were sent.
  if (!isUtf8(bytes)) return { kind: 'unreadable', message: 'The body is not valid UTF-8.' };
  const text = bytes.toString('utf8');
  const tooDeepIn = memberDeeperThan(text, depthMax);
  if (tooDeepIn !== undefined) {
    return { kind: 'unreadable', message: `The body is nested deeper than ${depthMax} levels.`, tooDeepIn };
  }
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return { kind: 'object', value };
    return { kind: 'unreadable', message: 'The body must be a JSON object.' };
  } catch {
    return { kind: 'unreadable', message: 'The body is not valid JSON.' };
  }
}

export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** A copy in which integers beyond 2^53 are numbers again, rounded: a type check takes raw text for an object. */
export function withPlainNumbers(value: unknown): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainNumbers(member)]));
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * The top-level member in which brackets outside strings stand deeper than `max`; undefined: none does. One pass, no
 * recursion.
 */
export function memberDeeperThan(text: string, max: number): string | undefined {
  let depth = 0;
  let stringStart = -1;
  let lastString = '';
  let member = '';
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (stringStart >= 0) {
      if (code === backslash) index += 1;
      else if (code === quote) {
        if (depth === 1) lastString = text.slice(stringStart, index);
        stringStart = -1;
      }
    } else if (code === quote) stringStart = index + 1;
    else if (code === 0x7b || code === 0x5b) {
      if (depth === 1) member = lastString;
      depth += 1;
      if (depth > max) return member;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return undefined;
}
