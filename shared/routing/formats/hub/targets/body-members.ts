// Changes fields of a body that a package built. Unchanged fields are copied as text, because they may be long.
import {
  type EventText,
  findMember,
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
  toEventLine,
} from '../../../../protocol/wire/index.ts';

export function read(body: JsonText, name: string): unknown {
  const member = findMember(body, name);
  return member === undefined ? undefined : parseJson(body.slice(member));
}

export function readObject(body: JsonText, name: string): JsonObject {
  const member = read(body, name);
  return isJsonObject(member) ? member : {};
}

/** Returns undefined for a text that is not a JSON object. */
export function parsedObject(text: string): JsonObject | undefined {
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

// Signatures in packages' metadata.

/**
 * Origin for hosts that accept a Claude signature. Older models accept any signature. Newer models accept only
 * signatures of the own account, and agents drop a refused signature.
 */
export const claudeOrigin = 'anthropic-claude-v1';

/** Returns a field that a package may omit, or leave empty. */
export const nonEmpty = <Name extends string>(name: Name, value: unknown): { readonly [name in Name]?: string } =>
  typeof value === 'string' && value !== '' ? ({ [name]: value } as { [name in Name]: string }) : {};
