// A page is read in one sitting, so it has at most 800 words. All pages together have a bound, so that a new page
// replaces an old one.
import { describe, expect, it } from '#jest';
import { readMarkdownFiles } from '../support/source-files.ts';

const pageWords = 800;
const allPagesWords = 25_000;

/** Counts words with a letter or a digit; signs of tables and lists are no words. */
const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{Letter}\p{Number}]/u.test(word)).length;

describe('the pages', () => {
  const counts = readMarkdownFiles(['shared', 'functions', 'infra', 'test', '.github'])
    .filter(({ path }) => path !== 'README.md')
    .map(({ path, text }) => [path, countWords(text)] as const);

  it('have at most 800 words each', () => {
    expect(counts.length).toBeGreaterThan(40);
    expect(counts.filter(([, words]) => words > pageWords)).toEqual([]);
  });

  it('have no more words together than the bound, the README included', () => {
    const [readme] = readMarkdownFiles([]);
    const words = counts.reduce((sum, [, count]) => sum + count, countWords(readme?.text ?? ''));
    expect(words).toBeLessThanOrEqual(allPagesWords);
  });
});
