// JSON Schemas with a few keywords each, valid and invalid ones, and answers that may or may not satisfy them.
import fc from 'fast-check';
import { mutated } from './arbitrary-json.ts';

const pattern = fc.oneof(
  {
    weight: 99,
    arbitrary: fc.constantFrom('^a+$', '[a-z', '^(?<year>\\d{4})$', '\\p{L}+', '\\-', '(?=a)b', '\\1', ''),
  },
  // The gateway needs half a second to refuse this pattern, so it is rare.
  { weight: 1, arbitrary: fc.constant('(a+)+$') },
);
const reference = fc.constantFrom(
  '#',
  '#/$defs/a',
  '#/$defs/b',
  '#a',
  '#/definitions/a',
  'https://s.example/s',
  '#/%zz',
  '',
);
const draft = fc.constantFrom(
  'https://json-schema.org/draft/2020-12/schema',
  'http://json-schema.org/draft-07/schema#',
  'http://json-schema.org/draft-04/schema#',
  'http://json-schema.org/draft-06/schema#',
  'https://json-schema.org/draft/2019-09/schema',
  'http://json-schema.org/draft-03/schema#',
);
const simple = fc.constantFrom<unknown>(
  true,
  false,
  {},
  { type: 'string' },
  { type: ['integer', 'null'] },
  { enum: [1, 'a'] },
);

const keywordsMax = 4;

/** Returns a schema whose subschemas are `inner`. */
function schemaOver(inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const some = fc.array(inner, { maxLength: 2 });
  const keywords: Record<string, fc.Arbitrary<unknown>> = {
    $schema: draft,
    $id: fc.constantFrom('https://s.example/s', 'a', ''),
    $anchor: fc.constantFrom('a', '', '1'),
    $ref: reference,
    $dynamicRef: reference,
    $recursiveRef: fc.constantFrom('#', '#a'),
    id: fc.constantFrom('https://s.example/s', 'a', ''),
    exclusiveMinimum: fc.constantFrom(true, false, 1),
    type: fc.constantFrom('object', 'array', 'string', 'number', ['string', 'array']),
    const: fc.jsonValue({ maxDepth: 1 }),
    properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', ''), inner, { maxKeys: 2 }),
    patternProperties: fc.dictionary(pattern, inner, { maxKeys: 1 }),
    additionalProperties: inner,
    unevaluatedProperties: inner,
    required: fc.constantFrom(['a'], ['a', 'a'], []),
    items: fc.oneof(inner, some),
    prefixItems: some,
    contains: inner,
    allOf: some,
    anyOf: some,
    oneOf: some,
    not: inner,
    if: inner,
    pattern,
    format: fc.constantFrom('date-time', 'email', 'regex', 'uri', 'unknown'),
    minimum: fc.double(),
    multipleOf: fc.constantFrom(0, -1, 0.1, 1e-300, 3),
    maxLength: fc.integer(),
    uniqueItems: fc.boolean(),
    $defs: fc.record({ a: inner, b: inner }),
  };
  const keyword = fc
    .constantFrom(...Object.keys(keywords))
    .chain((name) => fc.tuple(fc.constant(name), keywords[name] ?? inner));
  return fc.array(keyword, { maxLength: keywordsMax }).map((pairs) => Object.fromEntries(pairs));
}

const levels = 3;
let schema: fc.Arbitrary<unknown> = simple;
for (let level = 0; level < levels; level += 1) {
  const inner = schema;
  schema = fc.oneof({ weight: 1, arbitrary: inner }, { weight: 3, arbitrary: schemaOver(inner) });
}

/** The schema as JSON, as it is in a request, so without NaN and undefined. */
const jsonValue = schema.map((value) => JSON.parse(JSON.stringify(value)) as unknown);

export const arbitrarySchema: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: jsonValue },
  { weight: 1, arbitrary: mutated(jsonValue, 2) },
);

export const arbitraryAnswer: fc.Arbitrary<string> = fc.oneof(
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.constantFrom('{"a":"a"}', '{"a":{"b":[1,"a",null]}}', '[1,1]', '"a"', '```json\n{"a":1}\n```', '', '{"a":'),
  fc.constant('{"__proto__":{"a":1}}'),
);
