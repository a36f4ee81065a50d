import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { UpdateDraft } from '../../../shared/accounting/holds/update-draft.ts';
import type { Condition } from '../../../shared/storage/store/index.ts';
import { isEqual } from '../../../shared/storage/store/item.ts';

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constantFrom('exists' as const, 'absent' as const), at: fc.constantFrom('a', 'b') }),
  fc.record({
    kind: fc.constant('equals' as const),
    at: fc.constantFrom('a', 'b'),
    value: fc.oneof(fc.nat(3), fc.bigInt(0n, 3n), fc.constantFrom('0', '1', null, new Set(['a']), new Set(['b']))),
  }),
);
const conditionsOf = (draft: UpdateDraft): readonly Condition[] => {
  const { condition: all } = draft.finish();
  if (all === undefined) return [];
  return all.kind === 'and' ? all.of : [all];
};

/**
 * Returns whether two conditions are the same. A number differs from an equal bigint, although the store takes them as
 * equal.
 */
const isSame = (one: Condition, other: Condition): boolean => {
  const typeOf = (each: Condition) => ('value' in each ? typeof each.value : undefined);
  return isEqual(one, other) && typeOf(one) === typeOf(other);
};

describe('a draft of a write', () => {
  it('requires each condition, and the same one once', () => {
    fc.assert(
      fc.property(fc.array(condition, { maxLength: 30 }), (required) => {
        const draft = new UpdateDraft();
        for (const one of required) draft.require(structuredClone(one));
        const found = conditionsOf(draft);
        expect(required.filter((one) => !found.some((other) => isEqual(other, one)))).toEqual([]);
        expect(found.filter((one) => !required.some((other) => isEqual(other, one)))).toEqual([]);
        const isRepeated = (one: Condition, at: number) => found.slice(0, at).some((before) => isSame(before, one));
        expect(found.filter(isRepeated)).toEqual([]);
      }),
    );
  });
});
