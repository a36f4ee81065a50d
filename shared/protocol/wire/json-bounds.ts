// Bounds on JSON text, found before it is parsed in one pass whose cost is linear: everything behind it may recurse, and
// no check behind it meets more values than these.

export interface JsonBounds {
  /** Objects and arrays inside each other; the outermost is the first level. */
  readonly depthMax: number;
  /** Values of any kind, the outermost included. */
  readonly valuesMax?: number;
  /** Items of one list inside the members named here. */
  readonly itemsMax?: { readonly count: number; readonly members: ReadonlySet<string> };
}

export interface BoundsFault {
  readonly kind: 'depth' | 'values' | 'items';
  /** The top-level member in which it was found. */
  readonly member: string;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

/** The first bound that the text exceeds. What it says of a text that is no JSON has no meaning beyond that. */
export function findBoundsFault(text: string, { depthMax, valuesMax, itemsMax }: JsonBounds): BoundsFault | undefined {
  /** Of each open container: the items of a list so far, or -1 for an object. */
  const items = new Int32Array(depthMax + 1);
  let depth = 0;
  let values = 1;
  let previous = 0;
  let name = { start: 0, end: 0 };
  let member = '';
  let boundsItems = false;

  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // A value of an object stands behind a colon; one of a list before a comma, or before the end of a list not empty.
    const endsItem = code === comma ? (items[depth] ?? -1) >= 0 : code === closeBracket && previous !== openBracket;
    if (code === quote) {
      const end = endOfString(text, index);
      if (depth === 1) name = { start: index + 1, end };
      index = end;
    } else if (code === openBrace || code === openBracket) {
      depth += 1;
      if (depth > depthMax) return { kind: 'depth', member };
      items[depth] = code === openBracket ? 0 : -1;
    } else if (code === colon && depth === 1) {
      member = text.slice(name.start, name.end);
      boundsItems = itemsMax?.members.has(member) === true;
    }
    if (endsItem) {
      const count = (items[depth] ?? 0) + 1;
      items[depth] = count;
      if (boundsItems && itemsMax !== undefined && count > itemsMax.count) return { kind: 'items', member };
    }
    if (endsItem || code === colon) values += 1;
    if (valuesMax !== undefined && values > valuesMax) return { kind: 'values', member };
    if ((code === closeBrace || code === closeBracket) && depth > 0) depth -= 1;
    if (code > space) previous = code;
  }
  return undefined;
}

/** Where the string that begins at `start` has its closing quote. Each run of backslashes is looked at once. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
