// Members of a body that a package made. Those that stay as they are are not parsed: they may be long.
import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
  toEventLine,
} from '../../../../protocol/wire/index.ts';

export type Json = JsonObject;

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

export type Bytes = AsyncGenerator<Uint8Array, void, undefined>;

export const eventBytes = (events: readonly EventText[]): Uint8Array =>
  Buffer.from(events.map(({ name, text }) => toEventLine(text, name)).join(''));

// What packages say of what was signed.

/** Who can read what Claude signs: older models on any platform; newer ones for the account that had it alone, and agents leave out what is refused. */
export const claudeOrigin = 'anthropic-claude-v1';

/** A word of a package that may be missing, or empty. */
export const nonEmpty = <Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: string } =>
  typeof value === 'string' && value !== '' ? ({ [name]: value } as { [name in Name]: string }) : {};
