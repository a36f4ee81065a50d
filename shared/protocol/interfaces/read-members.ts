// Reads the fields of a body that an interface uses. Other fields are never parsed.
import { fail } from '../../errors/index.ts';
import { type JsonText, NameTwice, pick, type Shape } from '../wire/index.ts';

export interface MemberReading {
  /** Top-level fields that are read; the others are skipped. */
  readonly names: ReadonlySet<string>;
  /** Shapes of fields of any length, with the parts of the fields that are read. */
  readonly shapes: Readonly<Record<string, Shape>>;
  /** Fields that must be read completely. */
  readonly indivisible: ReadonlySet<string>;
  /** The field whose length has an error code of its own. */
  readonly schemaMember?: string | undefined;
}

const nothing: Shape = {};
/** Returns the shape of an object with the fields that are read. */
export const membersOf = (shapes: Readonly<Record<string, Shape>>): Shape => ({
  members: new Map(Object.entries(shapes)),
});

/**
 * Bound of fields without a shape, which are read completely. The bound is enough for a response schema of 64 KiB with
 * its blanks, and far above the rest.
 */
const wholeMaxCharacters = 128 * 1024;

/** Reads the fields. Throws invalid_request. */
export function readMembers(json: JsonText, reading: MemberReading): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const { value: member, name } of json.members()) {
    if (!reading.names.has(name)) continue;
    if (Object.hasOwn(members, name)) throw standsTwice(name);
    members[name] = readMember(json, member, name, reading);
  }
  return members;
}

function readMember(
  json: JsonText,
  member: number,
  name: string,
  { shapes, indivisible, schemaMember }: MemberReading,
): unknown {
  const shape = shapes[name];
  const isLong = json.end(member) - json.start(member) > wholeMaxCharacters;
  if (shape === undefined && !isLong) return JSON.parse(json.slice(member));
  if (isLong && indivisible.has(name)) {
    const code = name === schemaMember ? 'invalid_response_schema' : 'invalid_request';
    throw fail(code, { message: `${name}: is longer than ${wholeMaxCharacters} characters`, param: name });
  }
  try {
    return pick(json, member, shape ?? nothing, [name]);
  } catch (error) {
    throw error instanceof NameTwice ? standsTwice(error.path) : error;
  }
}

const standsTwice = (path: string) => fail('invalid_request', { message: `${path}: stands twice`, param: path });
