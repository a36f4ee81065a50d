import fc from 'fast-check';
import { describe, expect, it, jest } from '#jest';
import { runBounded } from '../../../shared/protocol/json-schema/check.ts';
import { checkAnswer, checkResponseSchema, checkValue } from '../../../shared/protocol/json-schema/index.ts';
import {
  type ConformanceCase,
  inBothDrafts,
  inDraft4,
  inDraft7,
  inDraft201909,
  inDraft202012,
} from './conformance-cases.ts';

const draft4Uri = 'http://json-schema.org/draft-04/schema#';
const draft6Uri = 'http://json-schema.org/draft-06/schema#';
const draft7Uri = 'http://json-schema.org/draft-07/schema#';
const draft201909Uri = 'https://json-schema.org/draft/2019-09/schema';
const draft202012Uri = 'https://json-schema.org/draft/2020-12/schema';

/** Returns the cases of a later draft that an earlier draft has too: those without a later keyword. */
const without = (cases: readonly ConformanceCase[], keywords: RegExp) =>
  cases.filter(([, schema]) => !keywords.test(schema));
const newIn7 = /"(if|then|else|\$comment)":/;
const newIn6 = /"(const|contains|propertyNames|examples|\$id|exclusiveM\w+)":|:(true|false)\b(?=[,}])/;

async function expectCase([, schemaText, valid, invalid]: ConformanceCase, draftUri: string): Promise<void> {
  const parsed = JSON.parse(schemaText);
  const schema = typeof parsed === 'boolean' ? parsed : { ...parsed, $schema: draftUri };
  expect(await checkResponseSchema(schema)).toBeUndefined();
  const refusedCases: string[] = [];
  for (const text of [...valid, ...invalid]) {
    if ((await checkValue(schema, JSON.parse(text))) !== undefined) refusedCases.push(text);
  }
  expect(refusedCases).toEqual(invalid);
}

const inDraft6 = without([...inBothDrafts, ...inDraft7], newIn7);

describe.each([
  ['2020-12', draft202012Uri, [...inBothDrafts, ...inDraft202012]],
  ['2019-09', draft201909Uri, [...inBothDrafts, ...inDraft201909]],
  ['7', draft7Uri, [...inBothDrafts, ...inDraft7]],
  ['6', draft6Uri, inDraft6],
  ['4', draft4Uri, [...without(inDraft6, newIn6), ...inDraft4]],
] as const)('draft %s', (_name, uri, cases) => {
  it.each(cases)('%s', (...found) => expectCase(found, uri));
});

describe('the draft of a schema', () => {
  const tuple = { items: [{ type: 'integer' }] };

  it.each([
    'http://json-schema.org/draft-07/schema#',
    'http://json-schema.org/draft-07/schema',
    'https://json-schema.org/draft-07/schema#',
  ])('is 7 for %s', async ($schema) => {
    expect(await checkResponseSchema({ $schema, ...tuple })).toBeUndefined();
    expect(await checkValue({ $schema, ...tuple }, ['a'])).toMatchObject({ path: '/0' });
  });

  it('is 7 if nothing is said and items is a list, and 2020-12 if it is none', async () => {
    expect(await checkResponseSchema(tuple)).toBeUndefined();
    expect(await checkValue(tuple, ['a'])).toMatchObject({ path: '/0' });
    // Draft 7 does not have prefixItems.
    const unsaid = { prefixItems: [{ type: 'number' }], items: false };
    expect(await checkValue(unsaid, ['a'])).toMatchObject({ path: '/0' });
    expect((await checkResponseSchema({ $schema: draft202012Uri, ...tuple }))?.message).toContain('at /items');
  });

  it.each([
    'http://json-schema.org/draft-03/schema#',
    'https://json-schema.org/draft/2020-12/schema#meta',
    'https://schemas.example/mine',
    '',
    7,
    null,
  ])('is refused when $schema is %j', async ($schema) => {
    expect((await checkResponseSchema({ $schema }))?.message).toContain('at /$schema');
  });

  it('cannot change inside a schema', async () => {
    const schema = { properties: { a: { $schema: draft7Uri, type: 'string' } } };
    expect((await checkResponseSchema(schema))?.message).toContain('at /properties/a/$schema');
  });

  it('means that keywords of the other one mean nothing', async () => {
    const later = { const: 1, contains: false, propertyNames: { maxLength: 0 }, $id: 'https://schemas.example/a' };
    expect(await checkValue({ $schema: draft4Uri, ...later }, [2])).toBeUndefined();
    expect(await checkValue({ $schema: draft4Uri, ...later }, { a: 2 })).toBeUndefined();
    expect(await checkValue({ $schema: draft6Uri, if: false, else: false }, 1)).toBeUndefined();
    const newer = { prefixItems: [false], unevaluatedItems: false, dependentRequired: { a: ['b'] } };
    expect(await checkValue({ $schema: draft7Uri, ...newer }, [1])).toBeUndefined();
    expect(await checkValue({ $schema: draft7Uri, ...newer }, { a: 1 })).toBeUndefined();
    const others = { additionalItems: false, $recursiveRef: '#', id: 'x', divisibleBy: 2, __absolute_ref__: 'x' };
    expect(await checkValue({ $schema: draft202012Uri, ...others }, [1])).toBeUndefined();
  });

  it('has formats as annotations, whatever they are called', async () => {
    for (const format of ['email', 'date-time', '__proto__', 'constructor', 'toString']) {
      expect(await checkValue({ format }, 'anything')).toBeUndefined();
    }
  });
});

const faultOf = async (schema: unknown): Promise<string | undefined> => (await checkResponseSchema(schema))?.message;

describe('a malformed schema', () => {
  it.each<[unknown, string]>([
    [undefined, 'The schema must be'],
    [null, 'The schema must be'],
    [[], 'The schema must be'],
    [{ type: 'strin' }, 'at /type '],
    [{ type: ['string', 'string'] }, 'at /type '],
    [{ properties: [] }, 'at /properties '],
    [{ properties: { a: 1 } }, 'at /properties/a '],
    [{ required: ['a', 'a'] }, 'at /required '],
    [{ enum: 'a' }, 'at /enum '],
    [{ items: 'a' }, 'at /items '],
    [{ anyOf: [] }, 'at /anyOf '],
    [{ anyOf: [{}, null] }, 'at /anyOf/1 '],
    [{ not: null }, 'at /not '],
    [{ minLength: -1 }, 'at /minLength '],
    [{ minimum: '1' }, 'at /minimum '],
    [{ multipleOf: 0 }, 'at /multipleOf '],
    [{ uniqueItems: 'yes' }, 'at /uniqueItems '],
    [{ description: 5 }, 'at /description '],
    [{ readOnly: 'yes' }, 'at /readOnly '],
    [{ deprecated: 1 }, 'at /deprecated '],
    [{ contentEncoding: 5 }, 'at /contentEncoding '],
    [{ $vocabulary: 5 }, 'at /$vocabulary '],
    [{ $schema: 'http://json-schema.org/draft-07/schema#', examples: 1 }, 'at /examples '],
    [{ pattern: '(' }, 'at /pattern '],
    [{ pattern: 'a'.repeat(2_049) }, 'at /pattern '],
    [{ patternProperties: { '[': {} } }, 'at /patternProperties/[ '],
    [{ dependentRequired: { a: 'b' } }, 'at /dependentRequired '],
    [{ dependencies: { a: 'b' } }, 'at /dependencies '],
    [{ $id: 'https://schemas.example/a#b' }, 'at /$id '],
    [{ $id: 'http://[' }, 'at /$id '],
    [{ $anchor: '#a' }, 'at /$anchor '],
    [{ $ref: 5 }, 'at /$ref '],
    [{ $ref: 'http://[' }, 'at /$ref '],
    [{ $anchor: 'a', $dynamicAnchor: 'b' }, 'The schema cannot have both'],
  ])('is refused with the place of its fault: %j', async (schema, place) => {
    expect(await faultOf(schema)).toContain(place);
  });

  it('is refused when its references leave it or meet nothing', async () => {
    const remote = 'http://169.254.169.254/latest/meta-data';
    for (const $ref of [remote, '#/$defs/b', '#b', '#/properties', 'other.json', 'file:///etc/passwd']) {
      expect(await faultOf({ properties: { a: { $ref } }, $defs: { c: {} } })).toContain('at /properties/a/$ref ');
    }
    expect(await faultOf({ $ref: 'https://json-schema.org/draft/2020-12/schema' })).toContain('at /$ref ');
  });

  it('is refused when it has the same $id twice, while another schema may have it again', async () => {
    const twice = { $defs: { a: { $id: 'https://schemas.example/a' }, b: { $id: 'https://schemas.example/a' } } };
    expect(await faultOf(twice)).toContain('same $id twice');
    const text = { $id: 'https://schemas.example/same', type: 'string' };
    const number = { $id: 'https://schemas.example/same', type: 'number' };
    expect([await faultOf(text), await faultOf(number)]).toEqual([undefined, undefined]);
    expect(await checkAnswer(text, '"a"')).toMatchObject({ kind: 'valid' });
    expect(await checkAnswer(number, '"a"')).toMatchObject({ kind: 'invalid' });
  });

  it('is refused when a dynamic reference would depend on the way to it', async () => {
    const schema = {
      $dynamicRef: '#a',
      $defs: { a: { $dynamicAnchor: 'a' }, b: { $id: 'https://schemas.example/b' } },
    };
    expect(await faultOf(schema)).toContain('beside an embedded $id');
  });

  it('is never repeated in the message beyond a few characters', async () => {
    const long = 'x'.repeat(5_000);
    const nested = { properties: { [long]: { properties: { [long]: { type: long } } } } };
    for (const schema of [nested, { $ref: long }, { pattern: `(${long}`.slice(0, 2_000) }, { type: long }]) {
      const message = (await faultOf(schema)) ?? '';
      expect(message).not.toContain('x'.repeat(41));
      expect(message.length).toBeLessThan(300);
    }
  });

  it('is never used for a check', async () => {
    await expect(checkAnswer({ type: 'strin' }, '1')).rejects.toThrow('has a fault');
  });
});

describe('a schema in common use', () => {
  it.each<[string, string, string]>([
    [
      'an e-mail pattern with lookaheads',
      "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
      'a.b@example.com',
    ],
    ['a date with needless escapes', '^\\d{4}\\-\\d{2}\\-\\d{2}$', '2026-11-30'],
    ['an escaped at sign and a dash in a class', '^[\\w\\-]+\\@[\\w\\-\\.]+$', 'a-b@c-d.e'],
    ['a web address', '^https?:\\/\\/([a-z0-9-]+\\.)+[a-z]{2,}(\\/.*)?$', 'https://a.example.org/b'],
    ['a lone bracket', '^[a-z]{2}]$', 'ab]'],
    ['Unicode classes', '^\\p{Lu}\\p{Ll}+$', 'Ärger'],
  ])('keeps %s', async (_name, pattern, text) => {
    const schema = { type: 'string', pattern };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, JSON.stringify(text))).toMatchObject({ kind: 'valid' });
    expect(await checkAnswer(schema, '"(((("')).toMatchObject({ kind: 'invalid' });
  });

  it('takes numbers that were kept as text', async () => {
    const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
    const schema = { type: 'integer', maximum: rawJson('9007199254740993') };
    expect(await faultOf(schema)).toBeUndefined();
    expect(await checkAnswer(schema, '5')).toMatchObject({ kind: 'valid' });
  });

  it('is left as it was', async () => {
    const schema = { $defs: { a: { $dynamicAnchor: 'x', const: 1 } }, $dynamicRef: '#x', format: 'date' };
    const before = JSON.stringify(schema);
    expect(await checkAnswer(Object.freeze(schema), '1')).toMatchObject({ kind: 'valid' });
    expect(JSON.stringify(schema)).toBe(before);
  });
});

const maxMs = 50;

describe('a bounded run', () => {
  it('hands back what the work returns', () => {
    const value = { a: 1 };
    expect(runBounded(() => value, maxMs)).toEqual({ kind: 'done', value });
    expect(runBounded(() => undefined, maxMs)).toEqual({ kind: 'done', value: undefined });
  });

  it('throws what the work throws', () => {
    const cause = new Error('mine');
    const work = () => {
      throw cause;
    };
    expect(() => runBounded(work, maxMs)).toThrow(cause);
  });

  it.each<[string, () => unknown]>([
    [
      'a loop that catches everything',
      () => {
        for (;;) {
          try {
            for (;;);
          } catch {}
        }
      },
    ],
    ['a regular expression', () => /^(a+)+$/u.test(`${'a'.repeat(60)}!`)],
    [
      'calls that double',
      () => {
        const double = (depth: number): number => (depth === 0 ? 1 : double(depth - 1) + double(depth - 1));
        return double(60);
      },
    ],
  ])('ends %s', (_name, work) => {
    expect(runBounded(work, maxMs)).toEqual({ kind: 'time_over' });
    expect(runBounded(() => 'next', maxMs)).toEqual({ kind: 'done', value: 'next' });
  });

  it('says so when the work exhausts the stack', () => {
    const recurse = (): number => recurse() + 1;
    expect(runBounded(recurse, 5_000)).toEqual({ kind: 'too_deep' });
  });
});

describe('answers', () => {
  const step = {
    type: 'object',
    properties: { explanation: { type: 'string' }, output: { type: ['string', 'null'] } },
    required: ['explanation', 'output'],
    additionalProperties: false,
  };
  const reasoning = {
    type: 'object',
    properties: {
      steps: { type: 'array', items: { $ref: '#/$defs/step' } },
      next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
    },
    required: ['steps', 'next'],
    additionalProperties: false,
    $defs: { step },
  };

  describe('an answer that satisfies its schema', () => {
    it('keeps a fence that is inside a text', async () => {
      const text = JSON.stringify({ code: '```json\n{}\n```' });
      expect(await checkAnswer({}, text)).toEqual({ kind: 'valid', text });
    });

    it('comes back as any JSON was written, with or without a fence', async () => {
      await fc.assert(
        fc.asyncProperty(fc.json({ maxDepth: 5 }), async (text) => {
          const expected = { kind: 'valid', text: text.trim() };
          expect(await checkAnswer(true, text)).toEqual(expected);
          expect(await checkAnswer({}, `\`\`\`json\n${text}\n\`\`\``)).toEqual(expected);
        }),
        { numRuns: 200 },
      );
    });
  });

  describe('an answer that does not satisfy its schema', () => {
    it.each<[string, string]>([
      ['', 'is empty'],
      ['```json\n```', 'is empty'],
      ['Sure! {"steps":[],"next":null}', 'is not JSON'],
      ['{"steps":[],"next":nu', 'is not JSON'],
      ['{"steps":[],"next":null}{}', 'is not JSON'],
      ['null', 'its root'],
      ['{"steps":[]}', '"next"'],
      ['{"steps":[],"next":null,"more":1}', '/more: is not allowed here'],
      ['{"steps":[{"explanation":"","output":5}],"next":null}', '/steps/0/output: '],
      ['{"steps":[],"next":{"steps":[],"next":{}}}', '/next: '],
    ])('is invalid and says why: %s', async (answer, problem) => {
      const result = await checkAnswer(reasoning, answer);
      expect(result).toEqual({
        kind: 'invalid',
        problem: expect.stringContaining(problem),
        mismatch: expect.stringMatching(/^\/.*: ./),
      });
    });

    it('is invalid beyond its bounds, even if everything is allowed', async () => {
      expect(await checkAnswer({}, `"${'x'.repeat(1024 * 1024)}"`)).toMatchObject({
        problem: expect.stringContaining('longer'),
      });
      expect(await checkAnswer({}, '['.repeat(257) + ']'.repeat(257))).toMatchObject({ kind: 'invalid' });
      expect(await checkAnswer({}, '['.repeat(500_000))).toMatchObject({ kind: 'invalid' });
      expect(await checkAnswer({}, '['.repeat(256) + ']'.repeat(256))).toMatchObject({ kind: 'valid' });
    });

    it('is not parsed on the event loop if it is large: a parser cannot be interrupted', async () => {
      const parse = jest.spyOn(JSON, 'parse');
      const parsed = async (length: number) => {
        parse.mockClear();
        const result = await checkAnswer({ type: 'integer' }, JSON.stringify(`MARK${'x'.repeat(length)}`));
        expect(result).toEqual({ kind: 'invalid', problem: expect.stringContaining('its root'), mismatch: '/: type' });
        return parse.mock.calls.some(([text]) => String(text).includes('MARK'));
      };
      expect([await parsed(200_000), await parsed(300_000)]).toEqual([true, false]);
      parse.mockRestore();
    });

    it('does not repeat itself in the problem beyond a short text', async () => {
      const answer = JSON.stringify({ ['x'.repeat(10_000)]: 1 });
      const result = await checkAnswer({ additionalProperties: false }, answer);
      expect(JSON.stringify(result).length).toBeLessThan(500);
    });
  });

  describe('a parsed value', () => {
    it('is named with the place of its first problem', async () => {
      expect(await checkValue(reasoning, { steps: [], next: null })).toBeUndefined();
      expect(await checkValue(reasoning, { steps: [{ explanation: 1, output: null }], next: null })).toEqual({
        path: '/steps/0/explanation',
        message: expect.any(String),
        mismatch: '/steps/0/explanation: type',
      });
    });

    it('may hold numbers that were kept as text', async () => {
      const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
      const value = { seed: rawJson('12345678901234567890') };
      expect(await checkValue({ properties: { seed: { type: 'integer' } } }, value)).toBeUndefined();
      expect(await checkValue({ properties: { seed: { type: 'string' } } }, value)).toMatchObject({ path: '/seed' });
    });

    it('is refused when it is no JSON or nests without end', async () => {
      expect(await checkValue({}, undefined)).toMatchObject({ path: '' });
      let deep: unknown = 0;
      for (let level = 0; level < 10_000; level += 1) deep = [deep];
      expect(await checkValue({}, deep)).toMatchObject({ message: expect.stringContaining('nests deeper') });
    });
  });
});
