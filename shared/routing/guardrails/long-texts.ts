// Texts that a service takes in pieces. Each piece begins with the end of the one before, so that no cut hides what it divides.

export interface Piece {
  readonly text: string;
  /** Characters at its start that are the end of the piece before. */
  readonly repeated: number;
}

const repeatedCharacters = 1_000;
/** Looked at for a blank to cut at. */
const cutSearchCharacters = 200;

/** `maxCharacters`: of a piece. */
export function piecesOf(text: string, maxCharacters: number): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  do {
    const repeated = Math.min(from, repeatedCharacters);
    const to = cutBefore(text, from + maxCharacters - repeated);
    pieces.push({ text: text.slice(from - repeated, to), repeated });
    from = to;
  } while (from < text.length);
  return pieces;
}

/** At a blank where there is one, and never between the halves of a character. */
function cutBefore(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const blank = text.slice(at - cutSearchCharacters, at).search(/\s\S*$/);
  if (blank >= 0) return at - cutSearchCharacters + blank + 1;
  return /[\ud800-\udbff]/.test(text.charAt(at - 1)) ? at - 1 : at;
}

/** The whole of masked pieces; undefined where a mask reaches into what is repeated, so that it cannot be cut out. */
export function joinPieces(pieces: readonly Piece[], masked: readonly string[]): string | undefined {
  let whole = '';
  for (const [index, { text, repeated }] of pieces.entries()) {
    const one = masked[index] ?? '';
    const start = text.slice(0, repeated);
    if (!one.startsWith(start)) return undefined;
    whole += one.slice(repeated);
  }
  return whole;
}
