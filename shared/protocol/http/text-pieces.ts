// Cuts a text into pieces of bounded length on character borders: half of a surrogate pair, written on its own,
// becomes U+FFFD. An empty text is one empty piece, because the first write is what sends status and headers.

export function* textPieces(text: string, maxCharacters: number): Generator<string> {
  let start = 0;
  do {
    let end = Math.min(start + maxCharacters, text.length);
    if (end < text.length && end - start > 1 && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield text.slice(start, end);
    start = end;
  } while (start < text.length);
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
