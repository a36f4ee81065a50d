// What the gateway reads of the body of a chat completion. What it does not read is never made a value.
import { fail } from '../../../errors/index.ts';
import { type JsonText, NameTwice, pick, type Shape } from '../../wire/index.ts';
import { gatewayMembers } from './gateway-members.ts';

const nothing: Shape = {};
const membersOf = (shapes: Readonly<Record<string, Shape>>): Shape => ({ members: new Map(Object.entries(shapes)) });

const image = membersOf({ url: nothing, detail: nothing });
const part = membersOf({ type: nothing, text: nothing, image_url: image });
const message = membersOf({ role: nothing, content: { items: part }, audio: nothing });

/** Members of any length. */
const shapes: Readonly<Record<string, Shape>> = {
  messages: { items: message },
  tools: { items: membersOf({ type: nothing }) },
  functions: { items: nothing },
};

/** All other members are read whole: what a response schema of 64 KiB takes with blanks in it, and far above the rest. */
const wholeMaxCharacters = 128 * 1024;
/** Members of which no part may be left out. */
const indivisible: ReadonlySet<string> = new Set([...gatewayMembers, 'stream_options', 'response_format']);

/** Throws invalid_request. */
export function readMembers(json: JsonText, names: ReadonlySet<string>): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const { value: member, name } of json.members()) {
    if (!names.has(name)) continue;
    if (Object.hasOwn(members, name)) throw standsTwice(name);
    members[name] = readMember(json, member, name);
  }
  return members;
}

function readMember(json: JsonText, member: number, name: string): unknown {
  const shape = shapes[name];
  const isLong = json.end(member) - json.start(member) > wholeMaxCharacters;
  if (shape === undefined && !isLong) return JSON.parse(json.slice(member));
  if (isLong && indivisible.has(name)) {
    const code = name === 'response_format' ? 'invalid_response_schema' : 'invalid_request';
    throw fail(code, { message: `${name}: is longer than ${wholeMaxCharacters} characters`, param: name });
  }
  try {
    return pick(json, member, shape ?? nothing, name);
  } catch (error) {
    throw error instanceof NameTwice ? standsTwice(error.path) : error;
  }
}

const standsTwice = (path: string) => fail('invalid_request', { message: `${path}: stands twice`, param: path });
