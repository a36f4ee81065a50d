// Items in DynamoDB's JSON equal what the SDK's own conversions make of them.
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { attributeOf, attributesOf, itemOf } from '../../../shared/storage/dynamodb-store/attribute-values.ts';

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }).filter((text) => text !== '__proto__');
const { value } = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, tie('leaf'), fc.array(tie('value')), fc.dictionary(name, tie('value'))),
  leaf: fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
    fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.uint8Array({ maxLength: 5 }),
    fc.uniqueArray(fc.string(), { minLength: 1 }).map((texts) => new Set(texts)),
  ),
}));
const item = fc.dictionary(name, value);
/** Returns the attributes with bytes as base64, as each of them writes bytes. */
const wire = (attributes: object): unknown =>
  JSON.parse(
    JSON.stringify(attributes, (_name, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    ),
  );

describe('the values of an item', () => {
  it('are sent as the SDK sends them, and read from an answer as it reads them', () => {
    fc.assert(
      fc.property(item, (one) => {
        const theirs = marshall(one, { removeUndefinedValues: true });
        const ours = attributesOf(one);
        expect(JSON.parse(JSON.stringify(ours))).toEqual(wire(theirs));
        expect(itemOf(ours)).toEqual(unmarshall(theirs));
        // An answer has base64, an error of the SDK has bytes.
        expect(itemOf(JSON.parse(JSON.stringify(ours)))).toEqual(unmarshall(theirs));
      }),
    );
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, () => 1, Symbol('a'), undefined, new Date(0), new Map()])(
    'are never %p, which no item can have',
    (impossible) => {
      expect(() => attributeOf(impossible)).toThrow(TypeError);
    },
  );
});
