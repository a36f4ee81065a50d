// Vectors in the text of an answer. A few inputs already make more numbers than an answer may hold JSON values, and the
// gateway looks at none of them: each vector counts as one value, of numbers or in base64.
import { nextTurn } from '../../../foundation/time/index.ts';

/** What providers of this interface take at once, and so the most that they answer. */
export const inputsMax = 2_048;

const memberName = '"embedding"';
/** A quotation mark that no backslash precedes begins a text, so this is the name of a member. */
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
  /** What stood in these, in order. */
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
    // Behind the last one that was asked for, everything is read like the rest: it is soon more than an answer may hold.
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

/** `text`: of `takeOutVectors`, with other members than `embedding` rewritten. */
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
