// JSON text and where its values stand in it, found in one pass whose cost is linear in the text. The gateway makes values
// of what it reads and relays the rest as it was written: a parser that makes every value and every name of a body of
// 1 MB can hold up the process for longer than a hundred calls take.
import { createStringReader, endOfBlanks, endOfBrackets, endOfScalar, quote } from './json-tokens.ts';

export interface JsonBounds {
  /** Objects and arrays inside each other; the outermost is the first level. */
  readonly depthMax: number;
  /** Values of any kind, the outermost included. */
  readonly valuesMax?: number;
  /** Items of one list inside the members named here. */
  readonly itemsMax?: { readonly count: number; readonly members: ReadonlySet<string> };
  /** Names of members that count as one value each: what stands in their lists and objects is not looked at. */
  readonly unread?: ReadonlySet<string>;
  /** Where such lists and objects end, as far as that is known, by where they begin. */
  readonly unreadEnds?: ReadonlyMap<number, number> | undefined;
}

export interface BoundsFault {
  readonly kind: 'depth' | 'values' | 'items';
  /** The top-level member in which it was found. */
  readonly member: string;
}

/** Of a value: where its text begins and ends, the index of the next value outside it, and where its name begins and ends. */
const fields = { start: 0, end: 1, next: 2, nameStart: 3, nameEnd: 4 } as const;
const stride = 5;
const valuesAtFirst = 16;

/** Thrown inside: what is wrong with a text. */
class Refused extends Error {
  readonly fault: BoundsFault | undefined;
  constructor(fault?: BoundsFault) {
    super('refused');
    this.fault = fault;
  }
}

interface Member {
  readonly value: number;
  readonly name: string;
}

export class JsonText {
  readonly text: string;
  /** Bytes of the text without blanks between its values, and with characters in place of `\u` escapes. */
  readonly compactBytes: number;
  readonly #table: Int32Array;
  #members: Member[] | undefined;

  constructor(text: string, table: Int32Array, compactBytes: number) {
    this.text = text;
    this.compactBytes = compactBytes;
    this.#table = table;
  }

  /** The first value inside another one, which may be none: compare with `next` of the outer one. */
  next(value: number): number {
    return this.#field(value, fields.next);
  }
  start(value: number): number {
    return this.#field(value, fields.start);
  }
  end(value: number): number {
    return this.#field(value, fields.end);
  }
  /** Where the name of a member begins, its quote included. */
  nameStart(value: number): number {
    return this.#field(value, fields.nameStart);
  }
  slice(value: number): string {
    return this.text.slice(this.start(value), this.end(value));
  }
  isObject(value: number): boolean {
    return this.text.charCodeAt(this.start(value)) === 0x7b;
  }
  isNumber(value: number): boolean {
    const code = this.text.charCodeAt(this.start(value));
    return code === 0x2d || (code >= 0x30 && code <= 0x39);
  }
  isString(value: number): boolean {
    return this.text.charCodeAt(this.start(value)) === quote;
  }
  isArray(value: number): boolean {
    return this.text.charCodeAt(this.start(value)) === 0x5b;
  }

  /** The name as written, quotes included; empty where the value is no member. */
  quotedName(value: number): string {
    return this.text.slice(this.nameStart(value), this.#field(value, fields.nameEnd));
  }

  name(value: number): string {
    const quoted = this.quotedName(value);
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  }

  /** The members of the whole text, or of an object in it, each with its name. */
  members(object = 0): readonly Member[] {
    if (object === 0 && this.#members !== undefined) return this.#members;
    const members: Member[] = [];
    const end = this.next(object);
    for (let value = object + 1; value < end; value = this.next(value)) members.push({ value, name: this.name(value) });
    if (object === 0) this.#members = members;
    return members;
  }

  /** The values directly inside an object or array. */
  *inside(value: number): Generator<number> {
    const end = this.next(value);
    for (let inner = value + 1; inner < end; inner = this.next(inner)) yield inner;
  }

  #field(value: number, field: number): number {
    return this.#table[value * stride + field] as number;
  }
}

export type Scanned =
  | { readonly kind: 'json'; readonly json: JsonText }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'fault'; readonly fault: BoundsFault };

/** Accepts what JSON.parse accepts, within bounds. */
export function scanJson(text: string, bounds: JsonBounds): Scanned {
  try {
    return { kind: 'json', json: scan(text, bounds) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return error.fault === undefined ? { kind: 'malformed' } : { kind: 'fault', fault: error.fault };
  }
}

function scan(
  text: string,
  { depthMax, valuesMax = Number.POSITIVE_INFINITY, itemsMax, unread, unreadEnds }: JsonBounds,
): JsonText {
  let table = new Int32Array(valuesAtFirst * stride);
  let values = 0;
  let at = 0;
  let saved = 0;
  let member = '';
  const endOfString = createStringReader(text);

  function skipBlanks(): void {
    const to = endOfBlanks(text, at);
    saved += to - at;
    at = to;
  }

  function add(nameStart: number, nameEnd: number): number {
    if (values >= valuesMax) throw new Refused({ kind: 'values', member });
    if ((values + 1) * stride > table.length) {
      const larger = new Int32Array(table.length * 2);
      larger.set(table);
      table = larger;
    }
    const row = values * stride;
    table[row] = at;
    table[row + fields.nameStart] = nameStart;
    table[row + fields.nameEnd] = nameEnd;
    values += 1;
    return row;
  }

  function skipString(): void {
    const found = endOfString(at + 1);
    if (found.end < 0) throw new Refused();
    saved += found.saved;
    at = found.end;
  }

  function readValue(depth: number, nameStart: number, nameEnd: number): void {
    const row = add(nameStart, nameEnd);
    const code = text.charCodeAt(at);
    if (code === quote) skipString();
    else if (code === 0x7b || code === 0x5b) {
      if (depth >= depthMax) throw new Refused({ kind: 'depth', member });
      at += 1;
      if (code === 0x7b) readMembers(depth + 1);
      else readItems(depth + 1);
    } else {
      at = endOfScalar(text, at);
      if (at < 0) throw new Refused();
    }
    table[row + fields.end] = at;
    table[row + fields.next] = values;
  }

  function passValue(depth: number, nameStart: number, nameEnd: number): void {
    const code = text.charCodeAt(at);
    if (code !== 0x7b && code !== 0x5b) {
      readValue(depth, nameStart, nameEnd);
      return;
    }
    const row = add(nameStart, nameEnd);
    at = unreadEnds?.get(at) ?? endOfBrackets(text, at);
    if (at < 0) throw new Refused();
    table[row + fields.end] = at;
    table[row + fields.next] = values;
  }

  function readMembers(depth: number): void {
    skipBlanks();
    if (text.charCodeAt(at) === 0x7d) {
      at += 1;
      return;
    }
    for (;;) {
      if (text.charCodeAt(at) !== quote) throw new Refused();
      const nameStart = at;
      skipString();
      const nameEnd = at;
      if (depth === 1) member = text.slice(nameStart + 1, nameEnd - 1);
      skipBlanks();
      if (text.charCodeAt(at) !== 0x3a) throw new Refused();
      at += 1;
      skipBlanks();
      if (unread?.has(text.slice(nameStart + 1, nameEnd - 1)) === true) passValue(depth, nameStart, nameEnd);
      else readValue(depth, nameStart, nameEnd);
      skipBlanks();
      const code = text.charCodeAt(at);
      at += 1;
      if (code === 0x7d) return;
      if (code !== 0x2c) throw new Refused();
      skipBlanks();
    }
  }

  function readItems(depth: number): void {
    skipBlanks();
    if (text.charCodeAt(at) === 0x5d) {
      at += 1;
      return;
    }
    const countMax = itemsMax?.members.has(member) === true ? itemsMax.count : Number.POSITIVE_INFINITY;
    for (let count = 1; ; count += 1) {
      if (count > countMax) throw new Refused({ kind: 'items', member });
      readValue(depth, -1, -1);
      skipBlanks();
      const code = text.charCodeAt(at);
      at += 1;
      if (code === 0x5d) return;
      if (code !== 0x2c) throw new Refused();
      skipBlanks();
    }
  }

  skipBlanks();
  readValue(0, -1, -1);
  skipBlanks();
  if (at < text.length) throw new Refused();
  return new JsonText(text, table, Buffer.byteLength(text) - saved);
}
