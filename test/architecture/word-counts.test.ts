import { describe, expect, it } from '#jest';
import { countsAbove, countWords, longSentences, lowered, readCeilings } from './word-counts.ts';

describe('words that a reader stumbles over', () => {
  it('only become fewer: no count is above its ceiling, which `npm run check -- --lower` lowers', () => {
    expect(countsAbove(countWords(), readCeilings())).toEqual([]);
  });

  it('have no ceiling for what is not counted', () => {
    const counts = countWords();
    expect(
      Object.keys(readCeilings()).filter((name) => counts[name] === undefined && !/^words of /.test(name)),
    ).toEqual([]);
  });
});

describe('ceilings', () => {
  it('fall to the counts and never rise', () => {
    const ceilings = { a: 5, b: 7, c: 2, 'words of a.md': 900, 'words of b.md': 1_000 };
    const counts = { a: 3, b: 9, 'words of b.md': 901 };
    expect(lowered(counts, ceilings)).toEqual({ a: 3, b: 7, c: 0, 'words of b.md': 950 });
  });

  it('are 0 for a word and 800 for a page that has none', () => {
    const found = countsAbove({ a: 1, 'words of a.md': 801, 'words of b.md': 801 }, { 'words of b.md': 801 });
    expect(found).toEqual([
      { name: 'a', count: 1, ceiling: 0 },
      { name: 'words of a.md', count: 801, ceiling: 800 },
    ]);
  });
});

describe('a sentence', () => {
  const of = (words: number) => `${Array.from({ length: words }, () => 'word').join(' ')}.`;

  it('is long from 31 words on, and ends with its mark, its bullet or its paragraph', () => {
    expect(longSentences(of(31))).toHaveLength(1);
    expect(longSentences(`${of(30)} A ${of(29)}\n\n- ${of(30)}\n- ${of(30)}`)).toEqual([]);
  });

  it('is not looked for in code, tables and headings, nor words in targets of links', () => {
    const long = of(31);
    expect(longSentences(`# ${long}\n\n| ${long} |\n\n\`\`\`sh\n${long}\n\`\`\`\n\n[a](b "${long}") c.`)).toEqual([]);
  });
});
