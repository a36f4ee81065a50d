// Arguments of tool calls as their reader sees them: an escape hides no word. A text may be one escape behind another, so
// there is no call or string for each, and others have the event loop in between.
import { nextTurn } from '../../foundation/time/index.ts';

/** Unescaped in a few milliseconds. */
const turnMaxCharacters = 256 * 1024;
/** As many units become a text in one call. */
const pieceUnits = 4 * 1024;

const escapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }).map(([letter, meant]) => [
    letter.charCodeAt(0),
    meant.charCodeAt(0),
  ]),
);
const backslash = '\\'.charCodeAt(0);
const unicodeLetter = 'u'.charCodeAt(0);
const unicodeLength = '\\u0000'.length;

/** Returns a function that unescapes text after text. Others have a turn after so many characters of all of them. */
export function unescapeInTurns(): (text: string) => Promise<string> {
  const units = new Uint16Array(pieceUnits);
  let characters = 0;
  return async (text) => {
    let at = text.indexOf('\\');
    if (at === -1) return text;
    let plain = text.slice(0, at);
    while (at < text.length) {
      const from = at;
      let length = 0;
      for (; length < pieceUnits && at < text.length; length += 1) {
        const escaped = text.charCodeAt(at) === backslash ? escapedLength(text, at) : 1;
        units[length] = escaped === 1 ? text.charCodeAt(at) : escapedUnit(text, at, escaped);
        at += escaped;
      }
      plain += String.fromCharCode(...units.subarray(0, length));
      characters += at - from;
      if (characters < turnMaxCharacters) continue;
      characters = 0;
      await nextTurn();
    }
    return plain;
  };
}

/** Characters of an escape; 1 for a backslash at the end of the text, which begins none. */
function escapedLength(text: string, at: number): number {
  if (at + 1 === text.length) return 1;
  if (text.charCodeAt(at + 1) !== unicodeLetter) return 2;
  for (let digit = at + 2; digit < at + unicodeLength; digit += 1) if (!isHexDigit(text.charCodeAt(digit))) return 2;
  return unicodeLength;
}

function escapedUnit(text: string, at: number, length: number): number {
  if (length === unicodeLength) return Number.parseInt(text.slice(at + 2, at + length), 16);
  const letter = text.charCodeAt(at + 1);
  return escapes.get(letter) ?? letter;
}

/** False for what lies behind the end of a text. */
const isHexDigit = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
