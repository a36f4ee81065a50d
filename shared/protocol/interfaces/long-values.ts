// Handles long values in the text of an answer that the gateway never parses, such as vectors and images. A few inputs
// already produce more numbers than the bound of JSON values, so each value counts as one, whether it is numbers or
// base64.
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';

export interface LongValues {
  /** Name of the field that contains each value, quotation marks included. */
  readonly memberName: string;
  readonly valueMaxCharacters: number;
  /** Maximum number of values in an answer. */
  readonly valuesMax: number;
}

/**
 * Matches the text after a field's name. A quotation mark without a backslash before it begins a string, so the string
 * is a name.
 */
const beforeValue = /\s{0,16}:\s{0,16}[["]/y;
/** Matches the inside of a value that consists of numbers. `base64` matches the inside of a value of base64. */
const numbers = /^[\d\s,.eE+-]*$/;
const base64 = /^[\w+/=-]*$/;

interface WithoutValues {
  /** The same JSON with an empty list, or an empty text, in place of each value. */
  readonly text: string;
  /** The removed values, in order. */
  readonly values: readonly string[];
}

/**
 * Number of fields with that name that are checked for each value, so that a text that consists of this name does not
 * cause a turn for each field.
 */
const namesForEach = 4;

/** Yields the position after the mark that begins each value. */
function* valueStarts(text: string, { memberName, valuesMax }: LongValues): Generator<number> {
  let at = text.indexOf(memberName);
  for (let names = 0; at >= 0 && names < namesForEach * valuesMax; names += 1) {
    beforeValue.lastIndex = at + memberName.length;
    const isStart = text[at - 1] !== '\\' && beforeValue.test(text);
    if (isStart) yield beforeValue.lastIndex;
    at = text.indexOf(memberName, at + 1);
  }
}

export async function takeOutValues(text: string, looked: LongValues): Promise<WithoutValues> {
  const { valueMaxCharacters, valuesMax } = looked;
  const parts: string[] = [];
  const values: string[] = [];
  let from = 0;
  let searched = 0;
  for (const start of valueStarts(text, looked)) {
    // After the last requested value everything is parsed normally, and soon exceeds the bounds of an answer.
    if (values.length === valuesMax) break;
    const ahead = text.slice(start, start + valueMaxCharacters);
    const end = ahead.indexOf(text[start - 1] === '[' ? ']' : '"');
    const value = end < 0 ? '' : ahead.slice(0, end);
    // Any other value stays in, and is parsed like the rest.
    const isLong = (text[start - 1] === '[' ? numbers : base64).test(value);
    parts.push(text.slice(from, start));
    values.push(isLong ? value : '');
    from = isLong ? start + value.length : start;
    searched += end < 0 ? valueMaxCharacters : end;
    if (searched > inOneTurn.passedBytes) {
      await nextTurn();
      searched = 0;
    }
  }
  return { text: parts.join('') + text.slice(from), values };
}

/** Returns how many values were removed from this text, or from a part of it. */
export const countValues = (text: string, looked: LongValues): number => [...valueStarts(text, looked)].length;

/** Returns the text with its values again. `text` is a result of `takeOutValues`, with other fields rewritten. */
export function putBackValues({ text, values }: WithoutValues, looked: LongValues): string {
  // `join` is not used, because it would copy 60 MB here, and the text is copied once more when it is written.
  let whole = '';
  const remaining = values.values();
  let from = 0;
  for (const start of valueStarts(text, looked)) {
    const value = remaining.next();
    if (value.done === true) break;
    whole += text.slice(from, start) + value.value;
    from = start;
  }
  return whole + text.slice(from);
}
