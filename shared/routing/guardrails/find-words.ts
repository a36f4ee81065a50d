// Finds words and phrases in a text. They are found whole, in upper or lower case, with any white space between their
// parts.
import type { TextSpan } from '../../foundation/patterns/index.ts';

/**
 * Scripts without spaces between words, in which each character is a token. In other scripts a token is a sequence of
 * letters and digits with the invisible characters in it, or any other character that is not a white space.
 */
const spacelessScripts = 'Han Hiragana Katakana Thai Lao Khmer Myanmar'.split(' ');
const spacelessClass = `[${spacelessScripts.map((script) => `\\p{Script=${script}}`).join('')}]`;
const newTokens = () => new RegExp(`${spacelessClass}|(?:(?!${spacelessClass})[\\p{L}\\p{N}\\p{M}\\p{Cf}])+|\\S`, 'gu');

/** A step from a token to the tokens that may follow it in the words. */
interface Step {
  readonly next: Map<string, Step>;
  isEnd: boolean;
}

const newStep = (): Step => ({ next: new Map(), isEnd: false });

/** Number of characters between two turns. */
const turnCharacters = 4_096;

export type FindSpans = (text: string) => Generator<TextSpan | undefined, void>;

/** Yields each place of each word, and undefined after every few thousand characters. */
export function wordFinder(words: readonly string[]): FindSpans {
  const first = newStep();
  for (const word of words) addWord(first, word);
  return function* find(text) {
    let open: { readonly start: number; readonly step: Step }[] = [];
    let turnAt = turnCharacters;
    for (const { token, isApart, start, end } of tokensOf(text)) {
      const name = nameOf(token, isApart);
      const openMatches = open;
      open = [];
      const advance = (from: number, step: Step | undefined): TextSpan | undefined => {
        if (step === undefined) return undefined;
        if (step.next.size > 0) open.push({ start: from, step });
        return step.isEnd ? { start: from, end } : undefined;
      };
      for (const one of openMatches) {
        const found = advance(one.start, one.step.next.get(name));
        if (found !== undefined) yield found;
      }
      const found = advance(start, first.next.get(token));
      if (found !== undefined) yield found;
      if (end < turnAt) continue;
      turnAt = end + turnCharacters;
      yield undefined;
    }
  };
}

function addWord(first: Step, word: string): void {
  let step = first;
  for (const { token, isApart } of tokensOf(word)) {
    const name = step === first ? token : nameOf(token, isApart);
    const next = step.next.get(name) ?? newStep();
    step.next.set(name, next);
    step = next;
  }
  if (step !== first) step.isEnd = true;
}

/** Returns the name of a token. After the first token of a word the name shows whether white space precedes. */
const nameOf = (token: string, isApart: boolean): string => (isApart ? ` ${token}` : token);

interface Token {
  readonly token: string;
  /** True if white space precedes it. */
  readonly isApart: boolean;
  readonly start: number;
  readonly end: number;
}

function* tokensOf(text: string): Generator<Token, void> {
  const tokens = newTokens();
  let before = 0;
  for (let match = tokens.exec(text); match !== null; match = tokens.exec(text)) {
    const [written] = match;
    const token = folded(written);
    const start = match.index;
    const end = start + written.length;
    // The token consists of invisible characters only.
    if (token === '') {
      if (start === before) before = end;
      continue;
    }
    yield { token, isApart: start > before, start, end };
    before = end;
  }
}

/**
 * Returns the same text for all spellings of a word. Letters are converted through capitals, because some letters have
 * one capital in common.
 */
const folded = (token: string): string =>
  /^[\x21-\x7e]+$/.test(token)
    ? token.toLowerCase()
    : token
        .replaceAll(/\p{Cf}/gu, '')
        .normalize('NFKC')
        .toUpperCase()
        .toLowerCase();
