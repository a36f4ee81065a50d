// Finds the ends of the tokens of JSON text. Each search costs the characters that it passes.

export const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;

export function endOfBlanks(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); isBlank(code); code = text.charCodeAt(at)) at += 1;
  return at;
}

const isBlank = (code: number): boolean => code === space || code === 0x0a || code === 0x0d || code === 0x09;

/** Number of characters beyond which V8 searches a string; a shorter string is over before a search has started. */
const searchBeyondCharacters = 24;
/**
 * Matches text and escapes, up to a quote or an escape by number. The number of escapes is bounded, because V8
 * remembers each while it searches.
 */
const plainText = /[ !#-[\]-\uffff]*(?:\\["\\/bfnrt][ !#-[\]-\uffff]*){0,512}/y;
const letterOfNumber = 0x75;

type StringEnd = { readonly end: number; readonly saved: number };

/**
 * Returns a function that finds the end of the string that begins after the quote at `from`, quote included; -1 if
 * there is none.
 */
export function createStringReader(text: string): (from: number) => StringEnd {
  const isByNumber = (at: number) => text.charCodeAt(at + 1) === letterOfNumber;

  return (from) => {
    let saved = 0;
    let at = from;
    for (;;) {
      const searchFrom = Math.min(at + searchBeyondCharacters, text.length);
      let code = 0;
      for (; at < searchFrom; at += 1) {
        code = text.charCodeAt(at);
        if (code === quote || code === backslash || code < space) break;
      }
      const searchedFrom = at;
      if (at === searchFrom || (code === backslash && !isByNumber(at))) {
        plainText.lastIndex = at;
        plainText.test(text);
        at = plainText.lastIndex;
        code = text.charCodeAt(at);
      }
      if (code === quote) return { end: at + 1, saved };
      if (code !== backslash) break;
      if (isByNumber(at)) {
        const unit = readHex(text, at + 2);
        if (unit < 0) break;
        saved += unit < space ? 0 : 6 - utf8Bytes(unit);
        at += 6;
      } else if (at === searchedFrom) break;
    }
    return { end: -1, saved };
  };
}

/**
 * Returns the position after the bracket that closes the bracket at `from`, whatever is between them; -1 if no bracket
 * before `to` does.
 */
export const endOfBrackets = (text: string, from: number, to = text.length): number =>
  createBracketReader(text, from)(to);

/**
 * Returns a function that searches for the closing bracket up to ever later positions; -1 if it is not before the given
 * position.
 */
export function createBracketReader(text: string, from: number): (to: number) => number {
  let next = from;
  let depth = 0;
  let isText = false;
  return (to) => {
    const end = Math.min(to, text.length);
    let at = next;
    for (; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === quote) isText = !isText;
      else if (isText) at += code === backslash ? 1 : 0;
      else if (code === 0x5b || code === 0x7b) depth += 1;
      else if (code === 0x5d || code === 0x7d) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    next = at;
    return -1;
  };
}

/** Returns the bytes of a UTF-16 unit. Half of a surrogate pair counts as half of four bytes. */
const utf8Bytes = (unit: number): number => {
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
};

function readHex(text: string, from: number): number {
  let unit = 0;
  for (let at = from; at < from + 4; at += 1) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    if (code >= 0x30 && code <= 0x39) unit = unit * 16 + code - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) unit = unit * 16 + letter - 0x57;
    else return -1;
  }
  return unit;
}

const words = ['true', 'false', 'null'];

/** Returns the end of the number, `true`, `false` or `null` at `from`; -1 if there is none. */
export function endOfScalar(text: string, from: number): number {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    if (text.startsWith(word, from)) return from + word.length;
  }
  let at = from;
  let isNumber = true;
  const skipDigits = () => {
    const first = at;
    for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = text.charCodeAt(at)) at += 1;
    if (at === first) isNumber = false;
  };
  if (text.charCodeAt(at) === 0x2d) at += 1;
  if (text.charCodeAt(at) === 0x30) at += 1;
  else skipDigits();
  if (text.charCodeAt(at) === 0x2e) {
    at += 1;
    skipDigits();
  }
  if ((text.charCodeAt(at) | 0x20) === 0x65) {
    at += 1;
    const sign = text.charCodeAt(at);
    if (sign === 0x2b || sign === 0x2d) at += 1;
    skipDigits();
  }
  return isNumber ? at : -1;
}
