// Members of a body that a package made. Those that stay as they are are not parsed: they may be long.
import { findMember, isJsonObject, type JsonText, parseJson } from '../../../../protocol/wire/index.ts';

export type Json = Readonly<Record<string, unknown>>;

export function read(body: JsonText, name: string): unknown {
  const member = findMember(body, name);
  return member === undefined ? undefined : parseJson(body.slice(member));
}

export function readObject(body: JsonText, name: string): Json {
  const member = read(body, name);
  return isJsonObject(member) ? member : {};
}

/** Undefined: no JSON, or no object. */
export function parsedObject(text: string): Json | undefined {
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const atMost = (value: unknown, max: number): number => (typeof value === 'number' ? Math.min(value, max) : max);
