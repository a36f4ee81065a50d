// The body of a request as JSON, within bounds (contract 3).
import { isUtf8 } from 'node:buffer';
import { fail, type GatewayError } from '../../errors/index.ts';
import { isRawNumber, parseJson } from '../../foundation/ids/index.ts';
import { type BoundsFault, findBoundsFault, type JsonBounds } from './json-bounds.ts';

const depthMax = 64;
const valuesMax = 100_000;
/** Items of a list inside a member of the gateway. */
export const listItemsMax = 256;

/** Members that are the gateway's own and never reach a provider as they were sent. */
export const gatewayMembers = ['provider', 'models', 'cache', 'preset', 'usage', 'reasoning'] as const;

const bounds: JsonBounds = { depthMax, valuesMax };
const requestBounds: JsonBounds = {
  ...bounds,
  itemsMax: { count: listItemsMax, members: new Set<string>(gatewayMembers) },
};

const refusals: Readonly<Record<BoundsFault['kind'], string>> = {
  depth: `The body is nested deeper than ${depthMax} levels.`,
  values: `The body holds more than ${valuesMax} JSON values.`,
  items: `a list in it holds more than ${listItemsMax} items`,
};

export type JsonBody =
  | { readonly kind: 'object'; readonly value: Record<string, unknown> }
  | { readonly kind: 'unreadable'; readonly error: GatewayError };

/** Reads bytes as one JSON object. Never throws: a key that is refused wins over an unreadable body (contract 5). */
export function readJsonBody(bytes: Buffer, within: JsonBounds = bounds): JsonBody {
  // Decoded all the same, a prompt would reach the provider with other characters than were sent.
  if (!isUtf8(bytes)) return unreadable('The body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  const fault = findBoundsFault(text, within);
  if (fault !== undefined) return { kind: 'unreadable', error: refuse(fault) };
  try {
    const value = parseJson(text);
    return isJsonObject(value) ? { kind: 'object', value } : unreadable('The body must be a JSON object.');
  } catch {
    return unreadable('The body is not valid JSON.');
  }
}

/** The body of a request of a client. */
export const readRequestBody = (bytes: Buffer): JsonBody => readJsonBody(bytes, requestBounds);

const unreadable = (message: string): JsonBody => ({ kind: 'unreadable', error: fail('invalid_request', { message }) });

function refuse({ kind, member }: BoundsFault): GatewayError {
  // A schema has a code of its own, however little of the body can be read (contract 3).
  if (kind === 'depth' && member === 'response_format') {
    return fail('invalid_response_schema', { message: refusals.depth, param: member });
  }
  if (kind !== 'items') return fail('invalid_request', { message: refusals[kind] });
  return fail('invalid_request', { message: `${member}: ${refusals.items}`, param: member });
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
