// Defines JSON text and the positions of its values. The gateway parses the values that it reads and relays the rest as
// it was written, because parsing every value and name of a body of 1 MB can block the process for longer than a
// hundred calls take.
import { inOneTurn } from '../../foundation/time/index.ts';
import { quote } from './json-tokens.ts';

/**
 * Positions of a value: start and end of its text, the index of the next value outside it, and start and end of its
 * name.
 */
export const fields = { start: 0, end: 1, next: 2, nameStart: 3, nameEnd: 4 } as const;
export const stride = 5;

interface Member {
  readonly value: number;
  readonly name: string;
}

const noTable = new Int32Array(0);

export class JsonText {
  #text: string;
  /** Bytes of the text without blanks between its values, and with characters in place of `\u` escapes. */
  readonly compactBytes: number;
  #table: Int32Array;
  #members: Member[] | undefined;

  constructor(text: string, table: Int32Array, compactBytes: number) {
    this.#text = text;
    this.compactBytes = compactBytes;
    this.#table = table;
  }

  /** The text; empty once it was dropped. */
  get text(): string {
    return this.#text;
  }

  /** Drops its long parts, which may not be read any more. */
  letGo(): void {
    this.#text = '';
    this.#table = noTable;
    this.#members = [];
  }

  /** True if work on the whole text is divided into turns of the event loop. */
  get isLong(): boolean {
    return this.#text.length > inOneTurn.jsonCharacters || this.next(0) > inOneTurn.jsonValues;
  }

  /** Size of the table of positions. */
  get tableBytes(): number {
    return this.#table.byteLength;
  }

  /**
   * Returns the index of the next value, depth-first; compare it with the index next to the outer value to find the
   * first value inside.
   */
  next(value: number): number {
    return this.#field(value, fields.next);
  }
  start(value: number): number {
    return this.#field(value, fields.start);
  }
  end(value: number): number {
    return this.#field(value, fields.end);
  }
  /** Returns the start of a field's name, its quote included. */
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

  /** Returns the name as written, quotes included; empty if the value is not a field. */
  quotedName(value: number): string {
    return this.text.slice(this.nameStart(value), this.#field(value, fields.nameEnd));
  }

  name(value: number): string {
    const quoted = this.quotedName(value);
    return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  }

  /** Returns true for a field with this name. */
  hasName(value: number, name: string): boolean {
    const start = this.nameStart(value) + 1;
    const end = this.#field(value, fields.nameEnd) - 1;
    for (let at = start; at < end; at += 1) if (this.#text[at] === '\\') return this.name(value) === name;
    return end - start === name.length && this.#text.startsWith(name, start);
  }

  /** Returns the fields of the whole text, or of an object in it, each with its name. */
  members(object = 0): readonly Member[] {
    if (object === 0 && this.#members !== undefined) return this.#members;
    const members: Member[] = [];
    const end = this.next(object);
    for (let value = object + 1; value < end; value = this.next(value)) members.push({ value, name: this.name(value) });
    if (object === 0) this.#members = members;
    return members;
  }

  /** Yields the values directly inside an object or array. */
  *inside(value: number): Generator<number> {
    const end = this.next(value);
    for (let inner = value + 1; inner < end; inner = this.next(inner)) yield inner;
  }

  #field(value: number, field: number): number {
    return this.#table[value * stride + field] as number;
  }
}
