// How much work one value can be: the subschemas that a schema applies to the very value it was given. References that
// fan out double this at every step, references in a circle never end.
import type { Schema } from '@cfworker/json-schema';
import type { Draft } from './draft.ts';

/** The schemas of one document by URI. */
export type Lookup = Record<string, Schema | boolean>;

/** The schema that the `$ref` of a schema means, once the validator has resolved it. */
export const referenceTarget = (schema: Schema, lookup: Lookup): Schema | boolean | undefined =>
  lookup[schema.__absolute_ref__ ?? ''];

/** Counts for any schema of one document, each only once. Infinity: without end. */
export function evaluationCounter(lookup: Lookup, draft: Draft): (schema: Schema | boolean) => number {
  const counts = new Map<Schema, number>();
  return function count(schema): number {
    if (typeof schema === 'boolean') return 1;
    const known = counts.get(schema);
    if (known !== undefined) return known;
    // Whoever comes back here while it is being counted has found a circle.
    counts.set(schema, Number.POSITIVE_INFINITY);
    let sum = 1;
    for (const applied of appliedInPlace(schema, lookup, draft)) sum += count(applied);
    counts.set(schema, sum);
    return sum;
  };
}

function appliedInPlace(schema: Schema, lookup: Lookup, draft: Draft): (Schema | boolean)[] {
  const target = referenceTarget(schema, lookup);
  if (draft === '7' && target !== undefined) return [target];
  const { allOf = [], anyOf = [], oneOf = [], not, if: condition, then, else: otherwise } = schema;
  const dependent = [...Object.values(schema.dependentSchemas ?? {}), ...Object.values(schema.dependencies ?? {})];
  return [target, ...allOf, ...anyOf, ...oneOf, not, condition, then, otherwise, ...dependent].filter(
    (applied): applied is Schema | boolean => applied !== undefined && !Array.isArray(applied),
  );
}
