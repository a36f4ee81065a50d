// Parses a long text piece by piece, because V8 parses a text at once, and takes 60 ms for an object of 90,000 fields.
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';
import type { JsonText } from './json-text.ts';
import { parseJson } from './read-json-text.ts';

/** The same value that `parseJson` makes of the whole text, with a turn after each piece. */
export function parseInTurns(json: JsonText): Promise<unknown> {
  async function parsePiece(text: string): Promise<object> {
    const parsed = parseJson(text) as object;
    await nextTurn();
    return parsed;
  }
  async function parse(value: number): Promise<unknown> {
    const isArray = json.isArray(value);
    const isWhole = !isLong(json, value) || !(isArray || json.isObject(value));
    if (isWhole) return parsePiece(json.slice(value));
    const items: unknown[] = [];
    const members = {};
    for (const [first, last] of piecesOf(json, value)) {
      if (first === last) add(isArray ? items : members, json.name(first), await parse(first));
      else if (isArray) items.push(...((await parsePiece(`[${textOf(json, first, last)}]`)) as unknown[]));
      else {
        const some = await parsePiece(`{${textOf(json, first, last)}}`);
        for (const [name, member] of Object.entries(some)) add(members, name, member);
      }
    }
    return isArray ? items : members;
  }
  return parse(0);
}

/** Yields sequences of values, as the first and the last value of each piece. A long value is a separate piece. */
function* piecesOf(json: JsonText, value: number): Generator<readonly [first: number, last: number]> {
  let [first, last] = [-1, -1];
  for (const inner of json.inside(value)) {
    if (first >= 0 && isLong(json, first, inner)) {
      yield [first, last];
      first = inner;
    }
    if (first < 0) first = inner;
    last = inner;
  }
  if (first >= 0) yield [first, last];
}

const isLong = (json: JsonText, first: number, last = first): boolean =>
  json.next(last) - first > inOneTurn.jsonValues || json.end(last) - json.start(first) > inOneTurn.jsonCharacters;

const textOf = (json: JsonText, first: number, last: number): string =>
  json.text.slice(Math.max(json.nameStart(first), 0) || json.start(first), json.end(last));

/** Defines the property, because a field may be called `__proto__`. */
function add(holder: unknown[] | Record<string, unknown>, name: string, value: unknown): void {
  if (Array.isArray(holder)) holder.push(value);
  else if (name === '__proto__') Object.defineProperty(holder, name, { value, ...plainMember });
  else holder[name] = value;
}

const plainMember = { configurable: true, enumerable: true, writable: true };
