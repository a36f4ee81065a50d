// Long values in the text of an answer that the gateway never reads: vectors, images. A few inputs already make more
// numbers than the bound of JSON values: each value counts as one, whether numbers or base64.
import { nextTurn } from '../../foundation/time/index.ts';

export interface LongValues {
  /** Field that holds each of them, quotation marks included. */
  readonly memberName: string;
  readonly valueMaxCharacters: number;
  /** The most of an answer. */
  readonly valuesMax: number;
}

/** A quotation mark without a backslash before it begins a text, so this is the name of a field. */
const beforeValue = /\s{0,16}:\s{0,16}[["]/y;
/** Between the marks of a value: of numbers, or of base64. */
const numbers = /^[\d\s,.eE+-]*$/;
const base64 = /^[\w+/=-]*$/;
/** Searched in a few milliseconds. */
const turnCharacters = 4 * 1024 * 1024;

interface WithoutValues {
  /** The same JSON with an empty list, or an empty text, in place of each value. */
  readonly text: string;
  /** The removed values, in order. */
  readonly values: readonly string[];
}

/** Members of that name that are looked at, for each value: a text made of nothing else must not take a turn of its own. */
const namesForEach = 4;

/** Behind the mark that begins each value. */
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
    // After the last requested value everything is parsed normally, and soon exceeds the bound of an answer.
    if (values.length === valuesMax) break;
    const ahead = text.slice(start, start + valueMaxCharacters);
    const end = ahead.indexOf(text[start - 1] === '[' ? ']' : '"');
    const value = end < 0 ? '' : ahead.slice(0, end);
    // Anything else stays in, and is read like the rest.
    const isLong = (text[start - 1] === '[' ? numbers : base64).test(value);
    parts.push(text.slice(from, start));
    values.push(isLong ? value : '');
    from = isLong ? start + value.length : start;
    searched += end < 0 ? valueMaxCharacters : end;
    if (searched > turnCharacters) {
      await nextTurn();
      searched = 0;
    }
  }
  return { text: parts.join('') + text.slice(from), values };
}

/** How many values were removed from this text, or a part of it. */
export const countValues = (text: string, looked: LongValues): number => [...valueStarts(text, looked)].length;

/** `text`: of `takeOutValues`, with other fields rewritten. */
export function putBackValues({ text, values }: WithoutValues, looked: LongValues): string {
  // Not joined: that would copy 60 MB here, and they are copied once more where they are written.
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
