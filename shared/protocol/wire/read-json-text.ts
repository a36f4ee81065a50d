// Reads selected values and texts from a JSON text.
import { isRawNumber, rawNumber } from '../../foundation/ids/index.ts';
import type { JsonText } from './json-text.ts';
import { scanJson } from './scan-json.ts';

/**
 * Selects the parts of a value to read, which are the named fields of an object, or each item of a list; without names
 * an object is read as `{}`.
 */
export interface Shape {
  readonly members?: ReadonlyMap<string, Shape>;
  readonly items?: Shape;
  /** Reads only whether a value is present and not null, as `true`. */
  readonly isPresence?: true;
}

export const presence: Shape = { isPresence: true };

/**
 * Thrown when a field that is read occurs twice in its object, because the gateway and a provider might use different
 * values.
 */
export class NameTwice extends Error {
  readonly path: string;
  constructor(path: string) {
    super(path);
    this.path = path;
  }
}

const nothing: Shape = {};
/** Length up to which V8 copies a part of a text, in place of keeping the whole text in memory. */
const copiedMaxCharacters = 12;

/**
 * Reads the parts. `trail` has the names and positions from the body inwards to the value. Throws NameTwice; without a
 * trail the last of two fields counts, as in JSON.parse.
 */
export function pick(
  json: JsonText,
  value: number,
  { members, items, isPresence }: Shape,
  trail?: (string | number)[],
): unknown {
  if (isPresence === true) return json.slice(value) === 'null' ? null : true;
  if (json.isArray(value)) return pickItems(json, value, items ?? nothing, trail);
  if (!json.isObject(value)) return scalarAt(json, value);
  const object: Record<string, unknown> = {};
  if (members === undefined) return object;
  const end = json.next(value);
  for (let inner = value + 1; inner < end; inner = json.next(inner)) {
    const name = json.name(inner);
    const shape = members.get(name);
    if (shape === undefined) continue;
    trail?.push(name);
    if (trail !== undefined && Object.hasOwn(object, name)) throw new NameTwice(pathOf(trail));
    object[name] = pick(json, inner, shape, trail);
    trail?.pop();
  }
  return object;
}

function pickItems(json: JsonText, list: number, shape: Shape, trail: (string | number)[] | undefined): unknown[] {
  const items: unknown[] = [];
  const end = json.next(list);
  for (let inner = list + 1; inner < end; inner = json.next(inner)) {
    trail?.push(items.length);
    items.push(pick(json, inner, shape, trail));
    trail?.pop();
  }
  return items;
}

function scalarAt(json: JsonText, value: number): unknown {
  const text = json.slice(value);
  // A short text without escapes is equal to its value.
  return json.isString(value) && text.length <= copiedMaxCharacters && !text.includes('\\')
    ? text.slice(1, -1)
    : JSON.parse(text);
}

/** Returns a path such as `messages[0].content`. */
export function pathOf(trail: readonly (string | number)[]): string {
  let path = '';
  for (const step of trail) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  return path;
}

/** Returns the last field with this name in the whole text, or in an object in it. */
export function findMember(json: JsonText, name: string, object = 0): number | undefined {
  let found: number | undefined;
  const end = json.next(object);
  for (let value = object + 1; value < end; value = json.next(value)) if (json.hasName(value, name)) found = value;
  return found;
}

type Replaced = readonly (readonly [value: number, text: string])[];

/**
 * Returns the text of an object with some fields replaced or added; undefined removes a field. `replaced` has new texts
 * of values inside the remaining fields, sorted by position.
 */
export function rewriteMembers(
  json: JsonText,
  changes: ReadonlyMap<string, unknown>,
  object = 0,
  replaced: Replaced = [],
): string {
  // Joined at once with its brackets, because a text that is put together in two steps is copied twice.
  const pieces: string[] = [];
  const add = (text: string) => pieces.push(pieces.length === 0 ? '{' : ',', text);
  let from = -1;
  let to = -1;
  const flush = () => {
    if (from >= 0) add(textWith(json, replaced, from, to));
    from = -1;
  };
  for (const { value: inner, name } of json.members(object)) {
    if (changes.has(name)) flush();
    else {
      if (from < 0) from = json.nameStart(inner);
      to = json.end(inner);
    }
  }
  flush();
  changes.forEach((value, name) => {
    if (value !== undefined) add(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  });
  return pieces.length === 0 ? '{}' : [...pieces, '}'].join('');
}

/** Returns the text with some values replaced, which are sorted by position. */
export const replaceValues = (json: JsonText, replaced: Replaced): string =>
  textWith(json, replaced, 0, json.text.length);

/**
 * Returns the text without some items of lists, each with one comma next to it. `replaced` has new texts of other
 * values; values inside a removed item are ignored.
 */
export function removeItems(json: JsonText, items: ReadonlySet<number>, replaced: Replaced = []): string {
  const edits = replaced.map(([value, text]) => ({ start: json.start(value), end: json.end(value), text }));
  for (let value = 0; value < json.next(0); value += 1)
    if (json.isArray(value)) edits.push(...removals(json, value, items));
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end, text } of edits.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < from) continue;
    pieces.push(json.text.slice(from, start), text);
    from = end;
  }
  return pieces.join('') + json.text.slice(from);
}

/**
 * Returns the parts to remove. A comma is removed with the item before it, or, if no item before it stays, with the
 * item after it.
 */
function removals(json: JsonText, list: number, items: ReadonlySet<number>) {
  const removed: { readonly start: number; readonly end: number; readonly text: '' }[] = [];
  let before: number | undefined;
  let staysBefore = false;
  let open: number | undefined;
  for (const item of json.inside(list)) {
    if (open !== undefined) removed.push({ start: open, end: json.start(item), text: '' });
    open = undefined;
    if (!items.has(item)) staysBefore = true;
    else if (staysBefore && before !== undefined)
      removed.push({ start: json.end(before), end: json.end(item), text: '' });
    else open = json.start(item);
    before = item;
  }
  if (open !== undefined && before !== undefined) removed.push({ start: open, end: json.end(before), text: '' });
  return removed;
}

function textWith(json: JsonText, replaced: Replaced, start: number, end: number): string {
  const pieces: string[] = [];
  let from = start;
  for (const [value, text] of replaced) {
    if (json.start(value) < from || json.end(value) > end) continue;
    pieces.push(json.text.slice(from, json.start(value)), text);
    from = json.end(value);
  }
  return pieces.length === 0 ? json.text.slice(start, end) : pieces.join('') + json.text.slice(from, end);
}

/**
 * Returns the same text for equal values, with fields in code-point order at every depth, no blanks, and numbers and
 * strings in one form.
 */
export function canonicalText(json: JsonText, withoutMembers?: ReadonlySet<string>): string {
  const canonical = (value: number, isLeftOut?: (inner: number) => boolean): string => {
    if (json.isArray(value)) {
      const items: string[] = [];
      for (const inner of json.inside(value)) items.push(canonical(inner));
      return `[${items.join(',')}]`;
    }
    if (!json.isObject(value)) return canonicalScalar(json.slice(value));
    const members: string[] = [];
    for (const inner of json.inside(value)) {
      if (isLeftOut?.(inner) !== true) members.push(`${canonicalScalar(json.quotedName(inner))}:${canonical(inner)}`);
    }
    return `{${members.sort().join(',')}}`;
  };
  return canonical(0, withoutMembers && ((inner) => withoutMembers.has(json.name(inner))));
}

function canonicalScalar(text: string): string {
  const first = text.charCodeAt(0);
  if (first === 0x22) return text.includes('\\') ? JSON.stringify(JSON.parse(text)) : text;
  const isWord = first > 0x39;
  if (isWord || isPlainInteger(text)) return text;
  const value = Number(text);
  return isUnsafe(value) ? text : JSON.stringify(value);
}

const safeDigits = 15;

function isPlainInteger(text: string): boolean {
  if (text.length > safeDigits) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

/** True if a number is rounded, or beyond the range of a double. */
const isUnsafe = (value: number): boolean =>
  !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));

const largeExponent = /\d[eE]\+?\d{2}/;
const unsafeMinDigits = 16;

/** True for every text with an unsafe number; in others V8's parser loses nothing. */
const mayHoldUnsafeNumber = (text: string): boolean => largeExponent.test(text) || hasManyDigits(text);

/**
 * True if enough digits follow each other. It looks at one character of as many, because a pattern begins again at each
 * digit, and takes 400 ms for 15 MB of short numbers.
 */
function hasManyDigits(text: string): boolean {
  for (let at = unsafeMinDigits - 1; at < text.length; at += unsafeMinDigits) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [first, last] = [at, at];
    while (isDigit(text.charCodeAt(first - 1))) first -= 1;
    while (isDigit(text.charCodeAt(last + 1))) last += 1;
    if (last - first >= unsafeMinDigits - 1) return true;
    at = last;
  }
  return false;
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Parses JSON, keeping integers beyond 2^53 as raw text. Throws SyntaxError like JSON.parse. */
export function parseJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!mayHoldUnsafeNumber(text)) return parsed;
  const scanned = scanJson(text, { depthMax: parseDepthMax });
  return scanned.kind === 'json' ? withRawNumbers(scanned.json, parsed) : parsed;
}

export const isJsonText = (text: string): boolean => scanJson(text, { depthMax: parseDepthMax }).kind === 'json';

/** Maximum nesting, far above any bound. */
const parseDepthMax = 1_024;

/** Restores raw text for each number that the parser has rounded. Only the paths to these numbers are visited. */
function withRawNumbers(json: JsonText, parsed: unknown): unknown {
  const rounded = roundedNumbers(json);
  let next = 0;
  const isAhead = (value: number) => (rounded[next] ?? Number.POSITIVE_INFINITY) < json.next(value);
  const restore = (value: number, read: unknown): unknown => {
    if (rounded[next] === value) {
      next += 1;
      const text = json.slice(value);
      // The parser uses only the last value of a repeated name.
      return Number(isRawNumber(read) ? read.rawJSON : read) === Number(text) ? rawNumber(text) : read;
    }
    const holder = (typeof read === 'object' && read !== null ? read : {}) as Record<string | number, unknown>;
    let index = 0;
    for (const inner of json.inside(value)) {
      if (!isAhead(value)) break;
      const name = json.isArray(value) ? index : json.name(inner);
      index += 1;
      if (!isAhead(inner)) continue;
      const restored = restore(inner, Object.hasOwn(holder, name) ? holder[name] : undefined);
      if (restored === undefined) continue;
      // The property is defined, because a field may be called __proto__.
      if (name === '__proto__') Object.defineProperty(holder, name, { value: restored });
      else holder[name] = restored;
    }
    return read;
  };
  return rounded.length === 0 ? parsed : restore(0, parsed);
}

/** Least length of a number that can be rounded. */
const roundedMinCharacters = 4;

function roundedNumbers(json: JsonText): number[] {
  const rounded: number[] = [];
  for (let value = 0; value < json.next(0); value += 1) {
    const isShort = json.end(value) - json.start(value) < roundedMinCharacters;
    if (!isShort && json.isNumber(value) && isUnsafe(Number(json.slice(value)))) rounded.push(value);
  }
  return rounded;
}

export function jsonTextOf(value: unknown): JsonText {
  const scanned = scanJson(JSON.stringify(value), { depthMax: parseDepthMax });
  if (scanned.kind !== 'json') throw new Error('a value has no JSON text');
  return scanned.json;
}

/**
 * Returns a copy in which integers beyond 2^53 are rounded numbers again, because a type check treats raw text as an
 * object.
 */
export function withPlainNumbers(value: unknown): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withPlainNumbers(member)]));
}
