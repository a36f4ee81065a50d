import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import {
  formatUsd,
  parsePricePerMillion,
  parseUsd,
  priceOf,
  toUsdNumber,
} from '../../../shared/foundation/money/index.ts';

describe('an amount of money', () => {
  it.each([
    ['0', 0n],
    ['1', 1_000_000_000_000n],
    ['25.00', 25_000_000_000_000n],
    ['0.000000000001', 1n],
    ['00.10', 100_000_000_000n],
    ['999999999999999.999999999999', 999_999_999_999_999_999_999_999_999n],
  ])('is read exactly: %s', (text, amount) => {
    expect(parseUsd(text)).toBe(amount);
  });

  it.each([
    '',
    ' 1',
    '1 ',
    '-1',
    '+1',
    '1.',
    '.5',
    '1e3',
    '0x10',
    '1,000',
    '1.0000000000001',
    '1_000',
    'NaN',
    '١',
    '1\n',
  ])('is nothing else: %j', (text) => {
    expect(parseUsd(text)).toBeUndefined();
  });

  it('is written without trailing zeros, and never with an exponent', () => {
    expect([0n, 1n, 10n ** 12n, 1_500_000_000_000n, -25n * 10n ** 11n].map(formatUsd)).toEqual([
      '0',
      '0.000000000001',
      '1',
      '1.5',
      '-2.5',
    ]);
  });

  it('is the same after it was written and read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 26n }), (amount) => {
        expect(parseUsd(formatUsd(amount))).toBe(amount);
        expect(toUsdNumber(amount)).toBe(Number(formatUsd(amount)));
      }),
    );
  });
});

describe('a price per million tokens', () => {
  it('is a whole number of pico-USD per token with up to six decimals, and refused with more', () => {
    expect(parsePricePerMillion('2.50')).toBe(2_500_000n);
    expect(parsePricePerMillion('0.000001')).toBe(1n);
    expect(parsePricePerMillion('0')).toBe(0n);
    expect(parsePricePerMillion('0.0000001')).toBeUndefined();
    expect(parsePricePerMillion('-1')).toBeUndefined();
  });

  it('costs exactly a million times itself for a million tokens', () => {
    const micro = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(micro, (price) => {
        const text = `${price / 1_000_000n}.${String(price % 1_000_000n).padStart(6, '0')}`;
        const perToken = parsePricePerMillion(text);
        expect(perToken).toBe(price);
        expect(priceOf(1_000_000, perToken ?? -1n)).toBe(parseUsd(text));
      }),
    );
  });
});
