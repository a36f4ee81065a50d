import fc from 'fast-check';
import { parse } from 'yaml';
import { expect, it } from '#jest';
import { yamlText } from '../../../shared/configuration/gateway-file/index.ts';
import '../../support/property-seed.ts';

const piece = fc.oneof(
  fc.constantFrom(
    '\n',
    ' ',
    '\t',
    '- ',
    ': ',
    '#',
    '"',
    "'",
    '\u200f',
    '\u202e',
    '\u009b',
    '\u001b',
    '\u0085',
    '{{input}}',
    '1',
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, true, 0, -1.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

it('what is written as YAML is read as the same, also without the blanks at its end, and steers no terminal', () => {
  fc.assert(
    fc.property(fc.dictionary(text, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }), (value) => {
      const yaml = yamlText(value);
      expect(yaml).not.toMatch(/[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
      for (const read of [parse(yaml), parse(yaml.trimEnd())]) expect(read).toEqual(value);
    }),
    { numRuns: 500 },
  );
});
