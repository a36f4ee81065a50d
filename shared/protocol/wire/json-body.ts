// Reads the body of a request as JSON, within bounds.
import { isUtf8 } from 'node:buffer';
import { fail, type GatewayError } from '../../errors/index.ts';
import { jsonValuesMax } from '../../foundation/constants/index.ts';
import { textOfBytes } from '../../foundation/heap/index.ts';
import { isRawNumber } from '../../foundation/ids/index.ts';
import type { JsonText } from './json-text.ts';
import { parseJson } from './read-json-text.ts';
import { type BoundsFault, type JsonBounds, scanJson } from './scan-json.ts';

const depthMax = 64;
const valuesMax = jsonValuesMax;
/** Maximum number of items of a list inside a field of the gateway. */
export const listItemsMax = 256;

/** Maximum length of a client's name in a message. */
const nameMaxCharacters = 64;

const bounds: JsonBounds = { depthMax, valuesMax };
const refusals: Readonly<Record<BoundsFault['kind'], string>> = {
  depth: `The body is nested deeper than ${depthMax} levels.`,
  values: `The body holds more than ${valuesMax} JSON values.`,
  items: `a list in it holds more than ${listItemsMax} items`,
};

type Unreadable = { readonly kind: 'unreadable'; readonly error: GatewayError };

type JsonBody = { readonly kind: 'object'; readonly value: Record<string, unknown> } | Unreadable;

/** Reads bytes as one JSON object. Never throws, because a refused key has precedence over an invalid body. */
export function readJsonBody(bytes: Buffer): JsonBody {
  const read = scanBody(bytes, bounds, undefined);
  return read.kind === 'text' ? { kind: 'object', value: parseJson(read.json.text) as Record<string, unknown> } : read;
}

/** Reads like `readJsonBody`, but refuses a body that two readers may understand differently. */
export function readUnambiguousBody(bytes: Buffer): JsonBody {
  const read = scanBody(bytes, bounds, undefined);
  if (read.kind === 'unreadable') return read;
  const twice = memberThatStandsTwice(read.json);
  if (twice === undefined) return { kind: 'object', value: parseJson(read.json.text) as Record<string, unknown> };
  return { kind: 'unreadable', error: fail('invalid_request', { message: `${twice}: stands twice`, param: twice }) };
}

/** Returns the path of a repeated name, of which a parser would silently use the last value. */
function memberThatStandsTwice(json: JsonText, value = 0, path = ''): string | undefined {
  const isObject = json.isObject(value);
  if (!isObject && !json.isArray(value)) return undefined;
  const names = new Set<string>();
  let index = 0;
  for (const inner of json.inside(value)) {
    const name = isObject ? json.name(inner) : '';
    const innerPath = isObject
      ? `${path === '' ? '' : `${path}.`}${name.slice(0, nameMaxCharacters)}`
      : `${path}[${index}]`;
    index += 1;
    if (isObject && names.has(name)) return innerPath;
    names.add(name);
    const found = memberThatStandsTwice(json, inner, innerPath);
    if (found !== undefined) return found;
  }
  return undefined;
}

export interface RequestMembers {
  /** Fields of the gateway, whose lists are short. */
  readonly gatewayMembers: ReadonlySet<string>;
  /** The field that contains a schema, which has an error code of its own, if any. */
  readonly schemaMember: string | undefined;
}

/** Reads the text of a client's request, which is one JSON object within bounds. Never throws. */
export const readRequestBody = (bytes: Buffer, { gatewayMembers, schemaMember }: RequestMembers): BodyText =>
  scanBody(bytes, { ...bounds, itemsMax: { count: listItemsMax, members: gatewayMembers } }, schemaMember);

export type BodyText = { readonly kind: 'text'; readonly json: JsonText } | Unreadable;

function scanBody(bytes: Buffer, within: JsonBounds, schemaMember: string | undefined): BodyText {
  // If it were decoded all the same, a prompt would reach the provider with other characters than were sent.
  if (!isUtf8(bytes)) return unreadable('The body is not valid UTF-8.');
  const text = textOfBytes(withoutMark(bytes));
  const scanned = scanJson(text, within);
  if (scanned.kind === 'fault') return { kind: 'unreadable', error: refuse(scanned.fault, schemaMember) };
  if (scanned.kind === 'malformed') return unreadable(`The body is not valid JSON: ${faultPlace(text, scanned.at)}.`);
  return scanned.json.isObject(0)
    ? { kind: 'text', json: scanned.json }
    : unreadable('The body must be a JSON object.');
}

/** Returns a position such as `line 3, column 14`, counted from 1. */
function faultPlace(text: string, at: number): string {
  if (at >= text.length) return text.trim() === '' ? 'it is empty' : 'it ends too early';
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return `line ${before.split('\n').length}, column ${at - lineStart + 1}`;
}

/** Removes a byte-order mark, which some editors and clients write before a text. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, mark.length).equals(mark) ? bytes.subarray(mark.length) : bytes;
const mark = Buffer.from('\ufeff');

const unreadable = (message: string): Unreadable => ({
  kind: 'unreadable',
  error: fail('invalid_request', { message }),
});

function refuse({ kind, member }: BoundsFault, schemaMember: string | undefined): GatewayError {
  // A schema has a code of its own, however little of the body can be read.
  if (kind === 'depth' && member !== undefined && member === schemaMember) {
    return fail('invalid_response_schema', { message: refusals.depth, param: member });
  }
  if (kind !== 'items') return fail('invalid_request', { message: refusals[kind] });
  return fail('invalid_request', { message: `${member}: ${refusals.items}`, param: member });
}

/** An object of parsed JSON without known fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
