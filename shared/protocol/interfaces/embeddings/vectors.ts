// Vectors in the text of an answer. A few inputs already make more numbers than the bound of JSON values, and the
// gateway reads none of them: each vector counts as one value, whether numbers or base64.
import { nextTurn } from '../../../foundation/time/index.ts';

/** Inputs that providers of this interface accept at once, and so the most vectors of an answer. */
export const inputsMax = 2_048;

const memberName = '"embedding"';
/** A quotation mark without a backslash before it begins a text, so this is the name of a field. */
const beforeVector = /\s{0,16}:\s{0,16}[["]/y;
/** Between the marks of a vector: of numbers, or of base64. */
const numbers = /^[\d\s,.eE+-]*$/;
const base64 = /^[\w+/=-]*$/;
/** Ten thousand numbers of a hundred digits each. */
const vectorMaxCharacters = 1024 * 1024;
/** Searched in a few milliseconds. */
const turnCharacters = 4 * 1024 * 1024;

export interface WithoutVectors {
  /** The same JSON with an empty list, or an empty text, in place of each vector. */
  readonly text: string;
  /** The removed vectors, in order. */
  readonly vectors: readonly string[];
}

/** Members of that name that are looked at: a text made of nothing else must not take a turn of its own. */
const namesMax = 4 * inputsMax;

/** Behind the mark that begins each vector. */
function* vectorStarts(text: string): Generator<number> {
  let at = text.indexOf(memberName);
  for (let names = 0; at >= 0 && names < namesMax; names += 1) {
    beforeVector.lastIndex = at + memberName.length;
    const isStart = text[at - 1] !== '\\' && beforeVector.test(text);
    if (isStart) yield beforeVector.lastIndex;
    at = text.indexOf(memberName, at + 1);
  }
}

export async function takeOutVectors(text: string): Promise<WithoutVectors> {
  const parts: string[] = [];
  const vectors: string[] = [];
  let from = 0;
  let searched = 0;
  for (const start of vectorStarts(text)) {
    // After the last requested vector everything is parsed normally, and soon exceeds the bound of an answer.
    if (vectors.length === inputsMax) break;
    const ahead = text.slice(start, start + vectorMaxCharacters);
    const end = ahead.indexOf(text[start - 1] === '[' ? ']' : '"');
    const vector = end < 0 ? '' : ahead.slice(0, end);
    // Anything else stays in, and is read like the rest.
    const isVector = (text[start - 1] === '[' ? numbers : base64).test(vector);
    parts.push(text.slice(from, start));
    vectors.push(isVector ? vector : '');
    from = isVector ? start + vector.length : start;
    searched += end < 0 ? vectorMaxCharacters : end;
    if (searched > turnCharacters) {
      await nextTurn();
      searched = 0;
    }
  }
  return { text: parts.join('') + text.slice(from), vectors };
}

/** `text`: of `takeOutVectors`, with fields other than `embedding` rewritten. */
export function putBackVectors({ text, vectors }: WithoutVectors): string {
  // Not joined: that would copy 60 MB here, and they are copied once more where they are written.
  let whole = '';
  const left = vectors.values();
  let from = 0;
  for (const start of vectorStarts(text)) {
    const vector = left.next();
    if (vector.done === true) break;
    whole += text.slice(from, start) + vector.value;
    from = start;
  }
  return whole + text.slice(from);
}
