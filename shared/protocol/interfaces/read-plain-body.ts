// Reads a body whose only gateway fields are the plain ones, step by step.

import type * as z from 'zod/mini';
import { fail, GatewayError, quote } from '../../errors/index.ts';
import { checkMembers, findMember, type JsonObject, type JsonText } from '../wire/index.ts';
import { namesFunction, plainGatewayMembers } from './plain-members.ts';
import { type MemberReading, readMembers } from './read-members.ts';

interface PlainBodyReading<Schema extends z.ZodMiniObject> {
  readonly schema: Schema;
  readonly reading: MemberReading;
  readonly refuseOtherCase: (names: readonly string[]) => void;
}

/** Reads the body. Throws the GatewayError of the first fault. */
export function readPlainBody<Schema extends z.ZodMiniObject>(
  json: JsonText,
  { schema, reading, refuseOtherCase }: PlainBodyReading<Schema>,
): { readonly raw: JsonObject; readonly body: z.infer<Schema> } {
  refuseOtherCase(json.members().map(({ name }) => name));
  refuseDoubles(json, plainGatewayMembers);
  const raw = readMembers(json, reading);
  refuseChatOnly(json, raw);
  return { raw, body: checkMembers(schema, raw) };
}

/** Returns a fault for anything that a check throws because of the body (for example, an exceeded stack). */
export function orFault<Read>(read: () => Read): Read | GatewayError {
  try {
    return read();
  } catch (cause) {
    return cause instanceof GatewayError ? cause : fail('invalid_request', { cause });
  }
}

/** Refuses features that only chat completions have, which are the alias of a stored function, and `preset`. */
function refuseChatOnly(json: JsonText, { preset }: JsonObject): void {
  if (namesFunction(json)) {
    const message = 'A stored function is called as a chat completion: POST /v1/chat/completions.';
    throw fail('invalid_function_request', { message, param: 'model' });
  }
  if ((preset ?? null) !== null) {
    throw fail('invalid_request', { message: 'preset: is read on chat completions only', param: 'preset' });
  }
}

/**
 * Refuses a name that occurs twice in one object of these fields, at any depth, so that a restriction is not overruled
 * by its own duplicate.
 */
export function refuseDoubles(json: JsonText, members: Iterable<string>): void {
  for (const member of members) {
    const found = findMember(json, member);
    if (found !== undefined) refuseIn(json, found, member);
  }
}

/** Refuses a double name in one value. All values inside the value follow it directly, however deep. */
function refuseIn(json: JsonText, value: number, member: string): void {
  const end = json.next(value);
  for (let inner = value; inner < end; inner += 1) {
    if (!json.isObject(inner)) continue;
    const names = new Set<string>();
    for (const { name } of json.members(inner)) {
      const shown = name.slice(0, nameMaxCharacters);
      if (names.has(name))
        throw fail('invalid_request', { message: `${member}: "${shown}" stands in it twice`, param: member });
      names.add(name);
    }
  }
}

const nameMaxCharacters = 64;

/** Matches names that are either used or unknown. */
const lowerCase = /^[a-z0-9_]*$/;

/**
 * Refuses a name that differs from a used one only in its case. A provider that ignores the case of names (many Go
 * servers) would read another `model` or `max_tokens` than the one that was checked and paid for.
 */
export function otherCaseCheck(used: Iterable<string>): (names: Iterable<string>) => void {
  /** Used names by their lower-case form. */
  const usedNames: ReadonlyMap<string, string> = new Map([...used].map((name) => [name.toLowerCase(), name]));
  const maxCharacters = Math.max(...[...usedNames.keys()].map(({ length }) => length));
  return (names) => {
    for (const name of names) {
      if (name.length > maxCharacters || lowerCase.test(name)) continue;
      // The name is converted to upper case first, because Go treats a long s as an s.
      const known = usedNames.get(name.toUpperCase().toLowerCase());
      if (known === undefined || known === name) continue;
      const message = `${known}: was sent as ${quote(name)}; the letter case of a field counts.`;
      throw fail('invalid_request', { message, param: known });
    }
  };
}
