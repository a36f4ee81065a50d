import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromAttributes, toAttributes } from '../../../shared/storage/store/attribute-values.ts';

const limit = 10n ** 38n - 1n;

describe('attribute values', () => {
  it('carry every integer of up to 38 digits exactly', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -limit, max: limit }), (n) => {
        const back = fromAttributes(toAttributes({ n }))?.n;
        expect(typeof back === 'bigint' || Number.isSafeInteger(back)).toBe(true);
        expect(BigInt(back as bigint | number)).toBe(n);
      }),
    );
  });

  it('give integers beyond 2^53 as bigint and all other numbers as number', () => {
    const items = { safe: 2n ** 53n - 1n, unsafe: 2n ** 53n, fraction: 0.25 };
    expect(fromAttributes(toAttributes(items))).toEqual({ safe: 2 ** 53 - 1, unsafe: 2n ** 53n, fraction: 0.25 });
  });

  it('drop undefined members at every depth and keep null, empty text and bytes', () => {
    const item = { a: undefined, b: { c: undefined, d: null }, e: '', f: new Uint8Array([0, 255]) };
    expect(fromAttributes(toAttributes(item))).toEqual({ b: { d: null }, e: '', f: new Uint8Array([0, 255]) });
  });

  it('carry bytes as base64 at every depth, and back', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const item = { a: bytes, b: { c: [bytes, 'B'] } };
        const attributes = toAttributes(item);
        expect(attributes.a).toEqual({ B: Buffer.from(bytes).toString('base64') });
        expect(fromAttributes(JSON.parse(JSON.stringify(attributes)))).toEqual(item);
      }),
    );
  });

  it('refuse what would be stored as something else', () => {
    for (const n of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) expect(() => toAttributes({ n })).toThrow();
    expect(() => toAttributes({ at: new Date(0) })).toThrow();
  });
});
