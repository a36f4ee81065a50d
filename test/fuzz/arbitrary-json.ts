// Valid JSON with a fault in one place or a few: most faults are near the valid, where random bytes never come.
import fc from 'fast-check';

type Json = unknown;
type JsonPath = readonly (string | number)[];

const longText = 'x'.repeat(300);
const nested = (levels: number): Json => (levels === 0 ? 1 : { a: [nested(levels - 1)] });

/** Values that code can mistake for another kind of value. */
const oddities: readonly Json[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  1.5,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
  '',
  ' ',
  '0',
  'null',
  '__proto__',
  'constructor',
  'toString',
  '\u0000',
  '\ud800',
  '\u2028',
  '[DONE]',
  'data: [DONE]\n\n',
  '{{input}}',
  longText,
  [],
  {},
  [[]],
  [null],
  { length: -1 },
  JSON.parse('{"__proto__":{"stream":true}}'),
  JSON.parse('{"toString":1,"valueOf":2,"then":3}'),
  nested(20),
];

export const arbitraryValue: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...oddities) },
  { weight: 1, arbitrary: fc.jsonValue() },
);

type Mutation = {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'wrap' | 'add' | 'double';
  readonly value: Json;
};

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat({ max: 10_000 }),
  how: fc.constantFrom(
    'replace' as const,
    'replace' as const,
    'remove' as const,
    'wrap' as const,
    'add' as const,
    'double' as const,
  ),
  value: arbitraryValue,
});

/** Returns `valid` with up to `most` places changed. */
export const mutated = (valid: fc.Arbitrary<Json>, most: number): fc.Arbitrary<Json> =>
  fc.tuple(valid, fc.array(mutation, { maxLength: most })).map(([value, mutations]) => {
    let changedValue = structuredClone(value);
    // Each mutation gets a copy, because it may change what another mutation has inserted.
    for (const one of mutations) changedValue = mutate(changedValue, structuredClone(one));
    return changedValue;
  });

function mutate(value: Json, { at, how, value: instead }: Mutation): Json {
  const places = placesOf(value, []);
  return changeAt(value, places[at % places.length] ?? [], how, instead);
}

function placesOf(value: Json, place: JsonPath): JsonPath[] {
  if (typeof value !== 'object' || value === null) return [place];
  const steps: JsonPath = Array.isArray(value) ? value.map((_item, index) => index) : Object.keys(value);
  return [
    place,
    ...steps.flatMap((step) => placesOf((value as Record<string | number, Json>)[step], [...place, step])),
  ];
}

function changeAt(value: Json, [step, ...rest]: JsonPath, how: Mutation['how'], instead: Json): Json {
  if (step === undefined) return mutatedValue(value, how, instead);
  const members = value as Record<string | number, Json>;
  if (rest.length > 0 || how !== 'remove') {
    members[step] = changeAt(members[step], rest, how, instead);
  } else if (Array.isArray(value)) value.splice(Number(step), 1);
  else delete members[step];
  return value;
}

function mutatedValue(value: Json, how: Mutation['how'], instead: Json): Json {
  if (how === 'wrap') return [value];
  if (how === 'double') return [value, structuredClone(value)];
  if (how !== 'add' || typeof value !== 'object' || value === null) return instead;
  if (Array.isArray(value)) return [...value, instead];
  return { ...value, [typeof instead === 'string' ? instead : 'extra']: instead };
}

/** Bytes of the text with some of them inserted, removed, reversed or repeated. */
export const spoiltBytes = (text: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(
      text,
      fc.nat({ max: 100_000 }),
      fc.constantFrom(0, 0, 1, 2, 20),
      fc.oneof(fc.uint8Array({ maxLength: 6 }), fc.constantFrom(...insertions.map((piece) => Buffer.from(piece)))),
    )
    .map(([valid, at, cut, put]) => {
      const bytes = Buffer.from(valid);
      const start = at % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + cut)]);
    });

const insertions = [
  '',
  '"',
  '{',
  '[',
  '}',
  ',',
  ':',
  '\\',
  '\ufeff',
  '1e999',
  '-',
  '12345678901234567890',
  '[['.repeat(80),
];
