import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { dereference } from '@cfworker/json-schema';
import { describe, expect, it } from '@jest/globals';
import { evaluationsPerValueMax, schemaMaxBytes, schemaMaxDepth } from '../../../shared/protocol/json-schema/bounds.ts';
import { evaluationCounter } from '../../../shared/protocol/json-schema/evaluation-count.ts';
import { checkAnswer, checkResponseSchema } from '../../../shared/protocol/json-schema/index.ts';

const faultOf = async (schema: unknown): Promise<string | undefined> => (await checkResponseSchema(schema))?.message;

const nested = (levels: number, wrap: (inner: object, level: number) => object): object => {
  let schema: object = {};
  for (let level = 1; level < levels; level += 1) schema = wrap(schema, level);
  return schema;
};

/** `d0` applies `d1` as often as asked, which applies `d2` …: the work is `branches` to the power of `steps`. */
const fanOut = (branches: number, steps: number): object => {
  const names = Array.from({ length: steps }, (_, step) => `d${step}`);
  const repeat = (step: number) => ({ allOf: new Array(branches).fill({ $ref: `#/$defs/d${step + 1}` }) });
  const $defs = Object.fromEntries(names.map((name, step) => [name, repeat(step)]));
  return { $ref: '#/$defs/d0', $defs: { ...$defs, [`d${steps}`]: { type: 'string' } } };
};

describe('a hostile schema', () => {
  it('is refused one level beyond the depth, and 10,000 beyond', async () => {
    const deep = (levels: number) => nested(levels, (not) => ({ not }));
    expect(await faultOf(deep(schemaMaxDepth))).toBeUndefined();
    expect(await faultOf(deep(schemaMaxDepth + 1))).toContain('nest deeper');
    expect(await faultOf(deep(10_000))).toContain('nest deeper');
  });

  it('is refused one byte beyond the size', async () => {
    const sized = (bytes: number) => ({ $comment: 'x'.repeat(bytes - '{"$comment":""}'.length) });
    expect(await faultOf(sized(schemaMaxBytes))).toBeUndefined();
    expect(await faultOf(sized(schemaMaxBytes + 1))).toContain('larger than');
    // Four bytes each, in two characters of JavaScript.
    expect(await faultOf({ $comment: '💥'.repeat(schemaMaxBytes / 4) })).toContain('larger than');
  });

  it.each([
    '^(a+)+$',
    '(a|a)*$',
    '(a|aa)*$',
    '^([a-zA-Z]+)*$',
    '(\\d+)*$',
    '(x+x+)+y',
    '^(\\w+\\s?)*$',
    '([^x]+)+x',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    'a*a*a*a*a*a*a*a*a*a*b',
    '^https?://[a-z]+/(\\w+\\.?)+$',
    '^[(]key=((a+)+){1,9}[)]$',
  ])('is refused for a pattern that backtracks without end: %s', async (pattern) => {
    expect(await faultOf({ type: 'string', pattern })).toContain('at /pattern must be a regular expression that ends');
  });

  it('is refused for such a pattern among property names', async () => {
    expect(await faultOf({ properties: { a: { patternProperties: { '(b+)+$': {} } } } })).toContain(
      'at /properties/a/patternProperties/(b+)+$ ',
    );
  });

  it('is refused when references double each other, long before they are followed', async () => {
    expect(await faultOf(fanOut(2, 5))).toBeUndefined();
    expect(await faultOf(fanOut(2, 40))).toContain(`more than ${evaluationsPerValueMax} subschemas`);
    expect(await faultOf(fanOut(50, 30))).toContain(`more than ${evaluationsPerValueMax} subschemas`);
  });

  it('is counted, not tried: each subschema once, whatever their product', () => {
    const count = (schema: object) => evaluationCounter(dereference(schema), '2020-12')(schema);
    expect(count(fanOut(2, 5))).toBe(126);
    expect(count(fanOut(2, 60))).toBeGreaterThan(2 ** 60);
    expect(count({ $ref: '#' })).toBe(Number.POSITIVE_INFINITY);
    expect(count({ properties: { a: { $ref: '#' } } })).toBe(1);
  });

  it.each<[string, object]>([
    ['itself', { $ref: '#' }],
    ['itself by a dynamic name', { $dynamicAnchor: 'a', $dynamicRef: '#a' }],
    [
      'a circle',
      { $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
    ],
    ['a condition on itself', { if: { $ref: '#' }, else: false }],
    ['a companion that is itself', { dependentSchemas: { a: { $ref: '#' } } }],
    ['a circle that nothing leads to', { type: 'string', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }],
  ])('is refused when it refers to %s without going on in the value', async (_name, schema) => {
    expect(await faultOf(schema)).toContain('subschemas to one value');
  });

  it('is refused when its identifiers make resolving exponential', async () => {
    const schema = nested(30, (not, level) => ({ $id: `https://schemas.example/${level}`, not }));
    expect(await faultOf(schema)).toContain('too entangled');
  });

  it('is refused for a chain of references beyond the stack', async () => {
    const steps = 1_500;
    const link = (step: number) => [step, step === steps - 1 ? {} : { $ref: `#/$defs/${step + 1}` }];
    const schema = {
      $ref: '#/$defs/0',
      $defs: Object.fromEntries(Array.from({ length: steps }, (_, step) => link(step))),
    };
    expect(await faultOf(schema)).toContain('too entangled');
  });

  it('is not mistaken for one when it is only large', async () => {
    const schema = { anyOf: Array.from({ length: 3_000 }, (_, value) => ({ const: value })) };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, '2999')).toMatchObject({ kind: 'valid' });
    expect(await checkAnswer(schema, '3000')).toMatchObject({ kind: 'invalid' });
  });
});

describe('a check that a hostile schema or answer drags out', () => {
  const overTime = { kind: 'invalid', problem: expect.stringContaining('could not be checked') };
  const deepAnswer = (levels: number) => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;

  it('ends when branches double at every level of the answer', async () => {
    const again = { properties: { a: { $ref: '#' } } };
    const schema = {
      anyOf: [
        { ...again, required: ['b'] },
        { ...again, required: ['c'] },
      ],
    };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, deepAnswer(60))).toEqual(overTime);
  });

  it('ends for a pattern that no probe has shown to be bad', async () => {
    const schema = { pattern: '^id:x*x*x*x*x*x*x*x*x*x*$' };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, `"id:${'x'.repeat(1_000)}!"`)).toEqual(overTime);
    expect(await checkAnswer(schema, '"id:xx"')).toMatchObject({ kind: 'valid' });
  });

  it('ends for many items that must be unique', async () => {
    const answer = JSON.stringify(Array.from({ length: 120_000 }, (_, index) => index));
    expect(await checkAnswer({ uniqueItems: true }, answer)).toEqual(overTime);
  });

  it('ends when every member meets a large list, and none of the list is repeated', async () => {
    const schema = { additionalProperties: { enum: ['x'.repeat(60_000)], const: { y: 'y'.repeat(1_000) } } };
    const answer = JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [index, 0])));
    const checked = await checkAnswer(schema, answer);
    expect(checked.kind).toBe('invalid');
    expect(JSON.stringify(checked)).not.toMatch(/xx|yy/);
  });

  it('leaves the next check unharmed', async () => {
    const bad = { pattern: '(a|aa)*$' };
    expect(await faultOf(bad)).toBeDefined();
    expect(await checkAnswer({ type: 'integer' }, '1')).toEqual({ kind: 'valid', text: '1' });
  });
});

describe('thousands of distinct schemas', () => {
  it('leave nothing behind, though all have the same $id', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const seen: WeakRef<object>[] = [];
    for (let index = 0; index < 3_000; index += 1) {
      const schema = { $id: 'https://schemas.example/same', properties: { [`p${index}`]: { const: index } } };
      expect(await checkAnswer(schema, `{"p${index}":${index}}`)).toMatchObject({ kind: 'valid' });
      seen.push(new WeakRef(schema));
    }
    // A weak reference holds on until its turn of the event loop has ended.
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    const kept = seen.filter((reference) => reference.deref() !== undefined).length;
    expect(kept).toBeLessThan(10);
  });
});
