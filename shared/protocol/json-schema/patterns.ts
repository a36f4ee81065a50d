// Regular expressions of clients. ECMAScript's own engine runs them, because schemas in common use need all of it
// (lookaheads, Unicode classes). Its matching can be interrupted, its compiling cannot and is therefore bounded by
// weight.

import { UnusableSchema } from './json-value.ts';
import { patternMaxCharacters, propertyClassWeight } from './schema-bounds.ts';

/** Cost of compiling it, in characters. */
export const weightOf = (source: string): number =>
  source.length + propertyClassWeight * (source.match(/\\p/gi)?.length ?? 0);

/** The pattern as the validator can compile it. Throws UnusableSchema when it is none. */
export function readPattern(source: string, path: string): string {
  if (source.length > patternMaxCharacters) {
    throw new UnusableSchema(path, `must not be longer than ${patternMaxCharacters} characters`);
  }
  for (const candidate of [source, inUnicodeMode(source)]) if (compiles(candidate)) return candidate;
  throw new UnusableSchema(path, 'is no regular expression of ECMA-262 in Unicode mode');
}

function compiles(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Escapes that other modes and languages allow and Unicode mode does not, such as `\-` and `\@`, and a lone `]`. */
const needlessEscapes = /[\s"#%&',:;<=>@_`~!]/;

function inUnicodeMode(source: string): string {
  let inClass = false;
  return source.replaceAll(/\\(.)|[[\]]/gsu, (found, escaped?: string) => {
    if (escaped === undefined) {
      const isLone = found === ']' && !inClass;
      inClass = found === '[';
      return isLone ? '\\]' : found;
    }
    return needlessEscapes.test(escaped) || (escaped === '-' && !inClass) ? escaped : found;
  });
}

/** Long enough that two ways through each repetition never end, short enough for any pattern with one way. */
const probeCharacters = 64;
const probePiecesMax = 20;
const usualPieces = ['a', 'A', '0', ' ', '-', '_', '.'];
/**
 * Characters after a repetition that make the match fail at the end; the pattern's own first characters are used too.
 */
const usualEndings = ['\u0000', '\n', '!'];
const ownEndingsMax = 4;

const probedPartsMax = 16;

/**
 * Tries a pattern on texts that are bad for it: its own characters and words, repeated. One that backtracks without end
 * does so here, before an answer was paid for. This is no proof: others meet the time limit of the answer.
 */
export function probePattern(source: string): void {
  const literals = source.match(/\w{2,8}|[^\\^$.*+?()[\]{}|]/gu) ?? [];
  const pieces = [...new Set([...usualPieces, ...literals])].slice(0, probePiecesMax);
  const endings = [...usualEndings, ...literals.slice(0, ownEndingsMax)];
  for (const part of [source, ...repeatedGroups(source)].slice(0, probedPartsMax)) {
    const pattern = new RegExp(part, 'u');
    for (const piece of pieces) {
      for (const ending of endings) pattern.test(piece.repeat(probeCharacters / piece.length) + ending);
    }
  }
}

/**
 * Each repeated group as a pattern of its own: in the whole pattern it may follow a prefix that no probe begins with.
 */
function repeatedGroups(source: string): string[] {
  const groups: string[] = [];
  const open: number[] = [];
  for (const { 0: found, index } of source.matchAll(/\\.|\[(?:\\.|[^\]\\])*\]|\(|\)(?:[*+]|\{\d*,?\d*\})?/gsu)) {
    if (found === '(') open.push(index);
    if (!found.startsWith(')')) continue;
    const start = open.pop();
    if (start !== undefined && found.length > 1) groups.push(`^${source.slice(start, index + found.length)}$`);
  }
  // Out of its pattern a group may refer to another that is not there.
  return groups.filter(compiles);
}
