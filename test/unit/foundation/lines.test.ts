import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { compareLines, contentLines } from '../../../shared/foundation/lines/index.ts';

const shown = (left: readonly string[], right: readonly string[]) =>
  compareLines(left, right).map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`);

describe('two texts', () => {
  it('are compared by their longest common part, in the order of both', () => {
    expect(shown(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'd', 'e'])).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
    expect(shown([], ['a'])).toEqual(['+a']);
  });

  it('are both there, whatever they hold', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
    fc.assert(
      fc.property(lines, lines, (left, right) => {
        const compared = compareLines(left, right);
        const without = (kind: string) => compared.filter((line) => line.kind !== kind).map(({ text }) => text);
        expect([without('added'), without('removed')]).toEqual([left, right]);
      }),
    );
  });

  it('of more lines than are compared stand one after the other', () => {
    const long = new Array<string>(2_001).fill('a');
    expect(shown(long, ['a'])).toEqual([...long.map(() => '-a'), '+a']);
  });
});

it('what a revision holds is lines: a text of several lines stands line by line', () => {
  expect(contentLines({ model: 'm', list: [{ text: 'one\ntwo' }], none: [], empty: {}, no: null })).toEqual([
    'model: m',
    'list:',
    '  1:',
    '    text: |',
    '      one',
    '      two',
    'none: []',
    'empty: {}',
    'no: null',
  ]);
});
