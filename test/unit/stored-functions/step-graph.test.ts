import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { findCycle, type StepNeeds } from '../../../shared/configuration/stored-functions/index.ts';

describe('findCycle', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];

  it('finds none where every step needs only earlier ones', () => {
    const needs = fc.array(fc.subarray(ids), { minLength: ids.length, maxLength: ids.length });
    fc.assert(
      fc.property(needs, fc.boolean(), (wanted, reversed) => {
        const steps = ids.map(
          (id, index): StepNeeds => ({
            id,
            needs: (wanted[index] ?? []).filter((need) => ids.indexOf(need) < index),
          }),
        );
        expect(findCycle(reversed ? steps.reverse() : steps)).toBeUndefined();
      }),
    );
  });

  it('answers with steps of which each needs the next, the last one the first', () => {
    fc.assert(
      fc.property(fc.array(fc.subarray(ids), { minLength: ids.length, maxLength: ids.length }), (wanted) => {
        const steps = ids.map((id, index): StepNeeds => ({ id, needs: wanted[index] ?? [] }));
        const cycle = findCycle(steps);
        for (const [index, id] of (cycle ?? []).entries()) {
          const next = cycle?.[(index + 1) % cycle.length] ?? '';
          expect(steps.find((candidate) => candidate.id === id)?.needs).toContain(next);
        }
      }),
    );
  });
});
