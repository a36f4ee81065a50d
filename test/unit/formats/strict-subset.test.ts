// Strict schemas for Claude by the gateway's rules, compared with Anthropic's SDK and the AI SDK's package for
// Anthropic: Claude refuses every schema that these would change.

import * as anthropicPackage from '@ai-sdk/anthropic/internal';
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import { describe, expect, it } from '#jest';
import { claudeStrictness } from '../../../shared/routing/formats/hub/targets/strict-schemas.ts';

type Json = Record<string, unknown>;

/** The package's types do not declare this function. */
const { sanitizeJsonSchema } = anthropicPackage as unknown as { readonly sanitizeJsonSchema: (schema: Json) => Json };

const inObject = (property: Json): Json => ({
  type: 'object',
  properties: { one: property },
  required: ['one'],
  additionalProperties: false,
});
const propertyIn = (schema: Json): Json => (schema.properties as { readonly one: Json }).one;

const formats = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'];
const takenSchemas: readonly Json[] = [
  ...formats.map((format) => ({ type: 'string', format })),
  { type: 'string', description: 'Where.', title: 'City' },
  { enum: ['a', 'b'] },
  { const: 'a' },
  { anyOf: [{ type: 'string' }, { type: 'null' }] },
  { type: 'array', items: { type: 'integer' } },
  inObject({ type: 'number' }),
];
const refusedSchemas: readonly Json[] = [
  ...['int32', 'uri-reference', 'regex', 'binary'].map((format) => ({ type: 'string', format })),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].map((word) => ({
    type: 'integer',
    [word]: 1,
  })),
  ...['minLength', 'maxLength'].map((word) => ({ type: 'string', [word]: 1 })),
  ...['maxItems', 'minItems'].map((word) => ({ type: 'array', items: { type: 'string' }, [word]: 3 })),
  { type: 'array', items: { type: 'string' }, uniqueItems: true },
  { type: 'string', pattern: '^a' },
  { oneOf: [{ type: 'string' }, { type: 'null' }] },
  { type: 'object', properties: {} },
  { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
  { type: 'object', properties: {}, additionalProperties: false, patternProperties: { a: {} } },
];

describe('the subset of Claude', () => {
  it.each(takenSchemas.map((one) => [JSON.stringify(one), one] as const))(
    'holds what both leave as it is: %s',
    (_name, one) => {
      expect(claudeStrictness.holds(inObject(one))).toBe(true);
      expect(propertyIn(sanitizeJsonSchema(inObject(one)))).toEqual(one);
      expect(propertyIn(transformJSONSchema(inObject(one)) as Json)).toEqual(one);
    },
  );

  it.each(refusedSchemas.map((one) => [JSON.stringify(one), one] as const))(
    'holds nothing that one of them changes: %s',
    (_name, one) => {
      expect(claudeStrictness.holds(inObject(one))).toBe(false);
      const schemas = [sanitizeJsonSchema(inObject(one)), transformJSONSchema(inObject(one)) as Json].map(propertyIn);
      expect(schemas.some((schema) => JSON.stringify(schema) !== JSON.stringify(one))).toBe(true);
    },
  );

  it('counts what is optional at any depth', () => {
    const loose = (property: Json): Json => ({ ...inObject(property), required: [] });
    expect(
      claudeStrictness.optionalOf(loose({ type: 'array', items: loose({ anyOf: [loose({}), { type: 'null' }] }) })),
    ).toBe(3);
    expect(claudeStrictness.optionalOf(inObject({ type: 'string' }))).toBe(0);
  });
});
