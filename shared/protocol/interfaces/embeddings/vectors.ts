// Vectors in the text of an answer. A few inputs already make more numbers than an answer may hold JSON values, and the
// gateway looks at none of them: each vector of numbers counts as one value.

/** What providers of this interface take at once, and so the most that they answer. */
export const inputsMax = 2_048;

/** A quotation mark that no backslash precedes begins or ends a text, so this is the name of a member. */
const vectorStart = /(?<!\\)"embedding"\s*:\s*\[/g;
/** From where it begins to where it may end: looked at once, however many beginnings a text has. */
const numbers = /[\d\s,.eE+-]*/y;

export interface WithoutVectors {
  /** The same JSON with an empty list in place of each vector. */
  readonly text: string;
  /** What stood in these lists, in order. */
  readonly vectors: readonly string[];
}

export function takeOutVectors(text: string): WithoutVectors {
  const parts: string[] = [];
  const vectors: string[] = [];
  let from = 0;
  vectorStart.lastIndex = 0;
  // Behind the last one that was asked for, everything is read like the rest: it is soon more than an answer may hold.
  while (vectors.length < inputsMax && vectorStart.test(text)) {
    const start = vectorStart.lastIndex;
    numbers.lastIndex = start;
    numbers.test(text);
    const end = numbers.lastIndex;
    // Anything else stays in, and is read like the rest.
    const isVector = text[end] === ']';
    parts.push(text.slice(from, start));
    vectors.push(isVector ? text.slice(start, end) : '');
    from = isVector ? end : start;
    vectorStart.lastIndex = end;
  }
  return { text: parts.join('') + text.slice(from), vectors };
}

/** `text`: of `takeOutVectors`, with other members than `embedding` rewritten. */
export function putBackVectors({ text, vectors }: WithoutVectors): string {
  let index = 0;
  return text.replaceAll(vectorStart, (start) => {
    const vector = vectors[index] ?? '';
    index += 1;
    return start + vector;
  });
}
