// Matches regular expressions of operators in time that is linear in the text, by re2js.
import { RE2JS, RE2JSException } from 're2js';

export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * The result of `read` for a match. `next` is the position at which the search continues, after the start of the match.
 */
export interface MatchReading {
  readonly spans: readonly TextSpan[];
  readonly next: number;
}

interface Pattern {
  /**
   * Yields the matches that are not empty in their order, and undefined after each piece of text. `read` is called with
   * each match.
   */
  spansIn(text: string, read?: (text: string, match: TextSpan) => MatchReading): Generator<TextSpan | undefined, void>;
}

/**
 * Number of characters that the engine gets at once. If each match looks far ahead, the time grows with the square of
 * this number.
 */
const pieceCharacters = 4_096;
/** Number of characters in which the end of a match is searched for, if the match fills a whole piece. */
const followedCharacters = 8 * pieceCharacters;
/** Length up to which a match is found wherever the text is divided into pieces. */
const matchMaxCharacters = 1_024;

/** Returns the fault of the pattern; undefined if it compiles. */
export function patternFault(source: string): string | undefined {
  try {
    RE2JS.compile(source);
    return undefined;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return error.message.replace(/^error parsing regexp: /, '');
  }
}

/** Compiles the pattern. Throws if it does not compile. */
export function compilePattern(source: string): Pattern {
  const engine = RE2JS.compile(source);
  return { spansIn: (text, read = asItIs) => spansIn(engine, text, read) };
}

const asItIs = (_text: string, match: TextSpan): MatchReading => ({ spans: [match], next: match.end });

function* spansIn(
  engine: RE2JS,
  text: string,
  read: (text: string, match: TextSpan) => MatchReading,
): Generator<TextSpan | undefined, void> {
  let at = 0;
  let length = pieceCharacters;
  while (at < text.length) {
    // The text begins one character earlier, for a pattern that looks at its left neighbour.
    const base = wholeCharacterAt(text, Math.max(0, at - 1));
    const end = wholeCharacterAt(text, Math.min(text.length, at + length));
    const isLast = end === text.length;
    const piece = text.slice(base, end);
    const lastStart = isLast ? end : wholeCharacterAt(text, end - matchMaxCharacters);
    let from = at;
    let next = lastStart;
    let isFollowed = false;
    const matcher = engine.test(piece) ? engine.matcher(piece) : undefined;
    while (from < lastStart && matcher?.find(from - base)) {
      const match = { start: base + matcher.start(), end: base + matcher.end() };
      // The next piece contains more of the match.
      if (!isLast && match.start > at && (match.start >= lastStart || match.end === end)) {
        next = match.start;
        break;
      }
      if (!isLast && match.end === end && length < followedCharacters) {
        isFollowed = true;
        break;
      }
      const found = match.end > match.start ? read(text, match) : { spans: [], next: match.end };
      yield* found.spans;
      from = Math.max(found.next, match.start + 1);
      if (wholeCharacterAt(text, from) !== from) from += 1;
    }
    yield undefined;
    if (isFollowed) {
      length *= 2;
      continue;
    }
    length = pieceCharacters;
    at = Math.max(next, from);
  }
}

/** Returns the same position, or one less if it is within a surrogate pair. */
const wholeCharacterAt = (text: string, at: number): number =>
  isLowSurrogate(text.charCodeAt(at)) && isHighSurrogate(text.charCodeAt(at - 1)) ? at - 1 : at;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000;
