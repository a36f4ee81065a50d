import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { parseInnerJson } from '../../../shared/protocol/wire/index.ts';

describe('JSON in a text', () => {
  /** Returns whether a value has no number that is kept as its text, as an integer beyond 2^53 is. */
  const isPlain = (value: unknown) => !JSON.stringify(value).match(/\d{16}|[eE]/);

  it('is parsed, and its values are counted', () => {
    const countOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum, one) => sum + countOf(one), 1)
        : 1;
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        fc.pre(isPlain(value));
        const parsed: unknown = JSON.parse(JSON.stringify(value));
        expect(parseInnerJson(JSON.stringify(value))).toEqual({ value: parsed, values: countOf(parsed) });
      }),
    );
  });

  it('is not parsed if it holds more, or is deeper, than a body may be, or is none', () => {
    const list = (values: number) => `[${'0,'.repeat(values - 2)}0]`;
    expect(parseInnerJson(list(100_000))?.values).toBe(100_000);
    expect(parseInnerJson(list(100_001))).toBeUndefined();
    expect(parseInnerJson(list(11), 10)).toBeUndefined();
    expect(parseInnerJson('['.repeat(65) + ']'.repeat(65))).toBeUndefined();
    expect(parseInnerJson('{"a":')).toBeUndefined();
  });
});
