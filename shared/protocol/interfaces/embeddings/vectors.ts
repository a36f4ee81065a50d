// Vectors in the text of an answer. A few inputs already make more numbers than an answer may hold JSON values, and the
// gateway looks at none of them: each vector of numbers counts as one value.

/** A quotation mark that no backslash precedes begins or ends a text, so this is the name of a member. */
const vectorStart = /(?<!\\)"embedding"\s*:\s*\[/g;
const numbersOnly = /^[\d\s,.eE+-]*$/;

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
  for (let match = vectorStart.exec(text); match !== null; match = vectorStart.exec(text)) {
    const start = vectorStart.lastIndex;
    const end = text.indexOf(']', start);
    if (end < 0) break;
    const numbers = text.slice(start, end);
    // Anything else stays in, and is read like the rest.
    const isVector = numbersOnly.test(numbers);
    parts.push(text.slice(from, start));
    vectors.push(isVector ? numbers : '');
    from = isVector ? end : start;
    vectorStart.lastIndex = isVector ? end : start;
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
