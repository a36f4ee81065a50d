// Finds the positions of the values of a JSON text, in one pass whose cost is linear in the text.
import { fields, JsonText, stride } from './json-text.ts';
import { createStringReader, endOfBlanks, endOfBrackets, endOfScalar, quote } from './json-tokens.ts';

export interface JsonBounds {
  /** Maximum nesting of objects and arrays; the outermost is the first level. */
  readonly depthMax: number;
  /** Maximum number of values of any kind, the outermost included. */
  readonly valuesMax?: number;
  /** Bound of the items of one list inside these fields. */
  readonly itemsMax?: { readonly count: number; readonly members: ReadonlySet<string> };
  /** Names of fields that count as one value each, because their lists and objects are not scanned. */
  readonly unread?: ReadonlySet<string>;
  /** Known ends of the lists and objects in these fields, by their start. */
  readonly unreadEnds?: ReadonlyMap<number, number> | undefined;
}

export interface BoundsFault {
  readonly kind: 'depth' | 'values' | 'items';
  /** The top-level field with the fault. */
  readonly member: string;
}

/** Thrown inside the scan with the fault of the text. */
class ScanFault extends Error {
  readonly fault: BoundsFault | undefined;
  constructor(fault?: BoundsFault) {
    super('refused');
    this.fault = fault;
  }
}

type Scanned =
  | { readonly kind: 'json'; readonly json: JsonText }
  /** `at` is the position of the fault, or the start of the value that has it. */
  | { readonly kind: 'malformed'; readonly at: number }
  | { readonly kind: 'fault'; readonly fault: BoundsFault };

/** Scans a text. It accepts the texts that JSON.parse accepts, within bounds. */
export function scanJson(text: string, bounds: JsonBounds): Scanned {
  const scan = new Scan(text, bounds);
  try {
    return { kind: 'json', json: scan.run() };
  } catch (error) {
    if (!(error instanceof ScanFault)) throw error;
    return error.fault === undefined ? { kind: 'malformed', at: scan.at } : { kind: 'fault', fault: error.fault };
  }
}

const valuesAtFirst = 16;
const [openBrace, closeBrace, openBracket, closeBracket, comma, colon] = [0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a] as const;

/** Scans one text in one pass. */
class Scan {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #valuesMax: number;
  readonly #endOfString: ReturnType<typeof createStringReader>;
  #table = new Int32Array(valuesAtFirst * stride);
  #values = 0;
  #at = 0;
  /** Bytes that the compact text does not have. */
  #saved = 0;
  /** The top-level field that is being scanned. */
  #member = '';

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text;
    this.#bounds = bounds;
    this.#valuesMax = bounds.valuesMax ?? Number.POSITIVE_INFINITY;
    this.#endOfString = createStringReader(text);
  }

  get at(): number {
    return this.#at;
  }

  run(): JsonText {
    this.#skipBlanks();
    this.#readValue(0, -1, -1);
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw new ScanFault();
    return new JsonText(this.#text, this.#table, Buffer.byteLength(this.#text) - this.#saved);
  }

  #skipBlanks(): void {
    const to = endOfBlanks(this.#text, this.#at);
    this.#saved += to - this.#at;
    this.#at = to;
  }

  #skipString(): void {
    const found = this.#endOfString(this.#at + 1);
    if (found.end < 0) throw new ScanFault();
    this.#saved += found.saved;
    this.#at = found.end;
  }

  #addRow(nameStart: number, nameEnd: number): number {
    if (this.#values >= this.#valuesMax) throw new ScanFault({ kind: 'values', member: this.#member });
    const row = this.#values * stride;
    if (row + stride > this.#table.length) {
      const larger = new Int32Array(this.#table.length * 2);
      larger.set(this.#table);
      this.#table = larger;
    }
    this.#table[row] = this.#at;
    this.#table[row + fields.nameStart] = nameStart;
    this.#table[row + fields.nameEnd] = nameEnd;
    this.#values += 1;
    return row;
  }

  /** Reads a value. `isUnread` means that only the end of a list or an object is found. */
  #readValue(depth: number, nameStart: number, nameEnd: number, isUnread = false): void {
    const row = this.#addRow(nameStart, nameEnd);
    const start = this.#at;
    const code = this.#text.charCodeAt(this.#at);
    const isNested = code === openBrace || code === openBracket;
    if (code === quote) this.#skipString();
    else if (isNested && isUnread)
      this.#at = this.#bounds.unreadEnds?.get(this.#at) ?? endOfBrackets(this.#text, this.#at);
    else if (isNested) {
      if (depth >= this.#bounds.depthMax) throw new ScanFault({ kind: 'depth', member: this.#member });
      this.#at += 1;
      if (code === openBrace) this.#readMembers(depth + 1);
      else this.#readItems(depth + 1);
    } else this.#at = endOfScalar(this.#text, this.#at);
    if (this.#at < 0) {
      this.#at = start;
      throw new ScanFault();
    }
    this.#table[row + fields.end] = this.#at;
    this.#table[row + fields.next] = this.#values;
  }

  #readMembers(depth: number): void {
    if (this.#isEmpty(closeBrace)) return;
    do {
      this.#skipBlanks();
      const nameStart = this.#at;
      if (this.#text.charCodeAt(nameStart) !== quote) throw new ScanFault();
      this.#skipString();
      const nameEnd = this.#at;
      if (depth === 1) this.#member = this.#text.slice(nameStart + 1, nameEnd - 1);
      this.#skipBlanks();
      if (this.#text.charCodeAt(this.#at) !== colon) throw new ScanFault();
      this.#at += 1;
      this.#skipBlanks();
      const isUnread = this.#bounds.unread?.has(this.#text.slice(nameStart + 1, nameEnd - 1)) === true;
      this.#readValue(depth, nameStart, nameEnd, isUnread);
    } while (this.#goesOn(closeBrace));
  }

  #readItems(depth: number): void {
    if (this.#isEmpty(closeBracket)) return;
    const { itemsMax } = this.#bounds;
    const countMax = itemsMax?.members.has(this.#member) === true ? itemsMax.count : Number.POSITIVE_INFINITY;
    let count = 0;
    do {
      count += 1;
      if (count > countMax) throw new ScanFault({ kind: 'items', member: this.#member });
      this.#skipBlanks();
      this.#readValue(depth, -1, -1);
    } while (this.#goesOn(closeBracket));
  }

  #isEmpty(close: number): boolean {
    this.#skipBlanks();
    const isEmpty = this.#text.charCodeAt(this.#at) === close;
    if (isEmpty) this.#at += 1;
    return isEmpty;
  }

  /** Reads past a field or an item. Returns true if another field or item must follow. */
  #goesOn(close: number): boolean {
    this.#skipBlanks();
    const code = this.#text.charCodeAt(this.#at);
    if (code !== comma && code !== close) throw new ScanFault();
    this.#at += 1;
    return code === comma;
  }
}
