import { describe, expect, it } from '#jest';
import { checkAnswer, checkResponseSchema } from '../../../shared/protocol/json-schema/index.ts';

const faultOf = async (schema: unknown): Promise<string | undefined> => (await checkResponseSchema(schema))?.message;

describe('a malformed schema', () => {
  it.each<[unknown, string]>([
    [undefined, 'The schema must be'],
    [null, 'The schema must be'],
    ['string', 'The schema must be'],
    [[], 'The schema must be'],
    [{ type: 'strin' }, 'at /type '],
    [{ type: [] }, 'at /type '],
    [{ type: ['string', 'string'] }, 'at /type '],
    [{ properties: [] }, 'at /properties '],
    [{ properties: { a: 1 } }, 'at /properties/a '],
    [{ properties: { a: ['b'] } }, 'at /properties/a '],
    [{ required: 'a' }, 'at /required '],
    [{ required: ['a', 'a'] }, 'at /required '],
    [{ enum: 'a' }, 'at /enum '],
    [{ items: 'a' }, 'at /items '],
    [{ anyOf: [] }, 'at /anyOf '],
    [{ anyOf: [{}, null] }, 'at /anyOf/1 '],
    [{ allOf: {} }, 'at /allOf '],
    [{ not: null }, 'at /not '],
    [{ minLength: -1 }, 'at /minLength '],
    [{ maxItems: 1.5 }, 'at /maxItems '],
    [{ minimum: '1' }, 'at /minimum '],
    [{ multipleOf: 0 }, 'at /multipleOf '],
    [{ uniqueItems: 'yes' }, 'at /uniqueItems '],
    [{ description: 5 }, 'at /description '],
    [{ examples: 'x' }, 'at /examples '],
    [{ readOnly: 'yes' }, 'at /readOnly '],
    [{ writeOnly: 1 }, 'at /writeOnly '],
    [{ deprecated: 1 }, 'at /deprecated '],
    [{ contentEncoding: 5 }, 'at /contentEncoding '],
    [{ contentMediaType: 5 }, 'at /contentMediaType '],
    [{ contentSchema: 5 }, 'at /contentSchema '],
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
