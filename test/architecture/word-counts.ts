// Counts of words in comments and pages that may only fall. The ceilings are in ceilings.json.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, readMarkdownFiles, readSourceFiles, type SourceFile } from '../support/source-files.ts';

export const ceilingsFile = join(projectRoot, 'test/architecture/ceilings.json');

export type WordCounts = Readonly<Record<string, number>>;

export const readCeilings = (): WordCounts => JSON.parse(readFileSync(ceilingsFile, 'utf8')) as WordCounts;

/** Longest page that needs no ceiling of its own. */
const pageWords = 800;
/** Longest sentence that is read once. */
const sentenceWords = 30;

/** Words of a private language: the key says which of them, and what to write in their place. */
const privateWords: Readonly<Record<string, RegExp>> = {
  'stand, stands: is in, comes before': /\bstands?\b/gi,
  'member of an object: field': /\bmembers?\b/gi,
  'told, tells: is reported, says': /\b(told|tells?)\b/gi,
  'gives back, brings back, takes away: releases, restores, removes':
    /\b(give[sn]?|gave|brings?|brought|takes?|taken) (back|away)\b/gi,
  'calls at once: concurrent calls': /\b(calls?|requests?|streams?) at once\b/gi,
  'what a kill leaves: after a crash': /\bwhat a kill\b/gi,
  'readable, unreadable text: valid, invalid': /\b(un)?readable\b/gi,
};

/** Lines that are a comment, without their sign. */
const commentLines = ({ text }: SourceFile): string[] =>
  text.split('\n').flatMap((line) => /^\s*(?:\/\/|\/\*\*?|\*)(?!\/)\s*(.*)$/.exec(line)?.[1] ?? []);

/** Sentences of a page: no code, no tables, no headings. */
const proseOf = (text: string): string[] =>
  text
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, '\n')
    .replaceAll(/^ *(\||#).*$/gm, '\n')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .map((block) => block.replaceAll(/\]\([^)]*\)/g, ']').trim());

/** Words as `wc -w` counts them, less the signs of tables and lists. */
export const wordsIn = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{Letter}\p{Number}]/u.test(word)).length;

const sentencesOf = (block: string): string[] => block.split(/(?<=[.!?][)”"`*]*)\s+(?=[^a-z])/);

export const longSentences = (text: string): string[] =>
  proseOf(text)
    .flatMap(sentencesOf)
    .filter((sentence) => wordsIn(sentence) > sentenceWords);

function occurrences(texts: readonly string[], word: RegExp): number {
  return texts.reduce((sum, text) => sum + [...text.matchAll(word)].length, 0);
}

/** Titles of tests that are in the line of their `it` or `describe`. */
const titlesOf = ({ text }: SourceFile): string[] =>
  [...text.matchAll(/^\s*(?:it|describe)(?:\.each\([^']*\))?\(\s*(['`])(.*?)\1/gm)].map(([, , title = '']) => title);

/** `others`: prose beside the comments. */
function countProse(sources: readonly SourceFile[], others: readonly string[]): WordCounts {
  const comments = sources.flatMap(commentLines);
  const read = [...comments, ...others];
  return {
    'files that begin with "What"': sources.filter(({ text }) => /^\/\/ What\b/.test(text)).length,
    'comment lines that begin with "What"': comments.filter((line) => /^What\b/.test(line)).length,
    'comments that say "Undefined:"': occurrences(comments, /\bUndefined:/g),
    ...Object.fromEntries(Object.entries(privateWords).map(([name, word]) => [name, occurrences(read, word)])),
  };
}

/** Of the tree as it is. A page without a ceiling has one of 800 words. */
export function countWords(): WordCounts {
  const pages = readMarkdownFiles(['shared', 'functions', 'infra', 'test', '.github']);
  const tests = readSourceFiles(['test']);
  const ofTests = countProse(tests, tests.flatMap(titlesOf));
  return {
    ...countProse(
      readSourceFiles(['shared', 'functions', 'infra']),
      pages.flatMap(({ text }) => proseOf(text)),
    ),
    ...Object.fromEntries(Object.entries(ofTests).map(([name, count]) => [`in tests: ${name}`, count])),
    'sentences above 30 words in pages': pages.flatMap(({ text }) => longSentences(text)).length,
    ...Object.fromEntries(
      pages
        .map(({ path, text }) => [`words of ${path}`, wordsIn(text)] as const)
        .filter(([, words]) => words > pageWords)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

export interface AboveCeiling {
  readonly name: string;
  readonly count: number;
  readonly ceiling: number;
}

export function countsAbove(counts: WordCounts, ceilings: WordCounts): AboveCeiling[] {
  return Object.entries(counts)
    .map(([name, count]) => ({ name, count, ceiling: ceilings[name] ?? (/^words of /.test(name) ? pageWords : 0) }))
    .filter(({ count, ceiling }) => count > ceiling);
}

/** Room for a sentence, so that not each change of a page changes its ceiling. */
const pageStep = 50;

/** Each ceiling at its count, that of a page at the next 50, if that is less; those of pages that need none go. */
export function lowered(counts: WordCounts, ceilings: WordCounts): WordCounts {
  return Object.fromEntries(
    Object.entries(ceilings).flatMap(([name, ceiling]) => {
      const count = counts[name];
      if (count === undefined) return /^words of /.test(name) ? [] : [[name, 0]];
      const step = /^words of /.test(name) ? pageStep : 1;
      return [[name, Math.min(Math.ceil(count / step) * step, ceiling)]];
    }),
  );
}
