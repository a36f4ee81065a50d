// Writes a value with long texts as JSON, piece by piece, because V8 quotes a text at once, and takes a quarter of a
// second for 16 MiB of escapes.
import { inOneTurn, nextTurn } from '../../foundation/time/index.ts';

/** Placeholder for a long text; the same text in the value is quoted like a long one. */
const mark = '\u0000';
/**
 * Matches the placeholder, which is neither the end of a text, whose quotation marks are escaped, nor the name of a
 * field.
 */
const quotedMark = /(?<!\\)"\\u0000"(?!:)/;

/**
 * Returns the text of JSON.stringify. A text that occurs twice is quoted once.
 */
export async function stringifyInTurns(value: object): Promise<string> {
  const quotedTexts = new Map<unknown, string>();
  for (const text of longTextsIn(value)) {
    if (!quotedTexts.has(text)) quotedTexts.set(text, await quote(text));
  }
  if (quotedTexts.size === 0) return JSON.stringify(value);
  quotedTexts.set(mark, JSON.stringify(mark));
  const inPlace: string[] = [];
  const short = JSON.stringify(value, (_name, member) => {
    const quoted = typeof member === 'string' ? quotedTexts.get(member) : undefined;
    if (quoted === undefined) return member;
    inPlace.push(quoted);
    return mark;
  });
  return short
    .split(quotedMark)
    .map((piece, index) => piece + (inPlace[index] ?? ''))
    .join('');
}

function* longTextsIn(value: object): Generator<string> {
  for (const member of Object.values(value)) {
    if (typeof member === 'string' && member.length > inOneTurn.jsonCharacters) yield member;
    else if (typeof member === 'object' && member !== null) yield* longTextsIn(member);
  }
}

async function quote(text: string): Promise<string> {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    // Half of a surrogate pair would be written as an escape.
    const to =
      from + inOneTurn.jsonCharacters + (isFirstHalf(text.charCodeAt(from + inOneTurn.jsonCharacters - 1)) ? 1 : 0);
    pieces.push(JSON.stringify(text.slice(from, to)).slice(1, -1));
    from = to;
    await nextTurn();
  }
  return `"${pieces.join('')}"`;
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
