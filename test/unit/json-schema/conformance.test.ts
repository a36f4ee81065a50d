import { describe, expect, it } from '#jest';
import { checkResponseSchema, checkValue } from '../../../shared/protocol/json-schema/index.ts';
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

/** Cases of a later draft that an earlier one has too: those without a keyword that came later. */
const without = (cases: readonly ConformanceCase[], keywords: RegExp) =>
  cases.filter(([, schema]) => !keywords.test(schema));
const newIn7 = /"(if|then|else|\$comment)":/;
const newIn6 = /"(const|contains|propertyNames|examples|\$id|exclusiveM\w+)":|:(true|false)\b(?=[,}])/;

async function expectCase([, schemaText, valid, invalid]: ConformanceCase, draftUri: string): Promise<void> {
  const parsed = JSON.parse(schemaText);
  const schema = typeof parsed === 'boolean' ? parsed : { ...parsed, $schema: draftUri };
  expect(await checkResponseSchema(schema)).toBeUndefined();
  const refused: string[] = [];
  for (const text of [...valid, ...invalid]) {
    if ((await checkValue(schema, JSON.parse(text))) !== undefined) refused.push(text);
  }
  expect(refused).toEqual(invalid);
}

describe('draft 2020-12', () => {
  it.each([...inBothDrafts, ...inDraft202012])('%s', (...found) => expectCase(found, draft202012Uri));
});

describe('draft 2019-09', () => {
  it.each([...inBothDrafts, ...inDraft201909])('%s', (...found) => expectCase(found, draft201909Uri));
});

describe('draft 6', () => {
  const cases = without([...inBothDrafts, ...inDraft7], newIn7);
  it.each(cases)('%s', (...found) => expectCase(found, draft6Uri));

  it('does not know what came later', async () => {
    expect(await checkValue({ $schema: draft6Uri, if: false, else: false }, 1)).toBeUndefined();
  });
});

describe('draft 4', () => {
  const cases = without(without([...inBothDrafts, ...inDraft7], newIn7), newIn6);
  it.each([...cases, ...inDraft4])('%s', (...found) => expectCase(found, draft4Uri));

  it('does not know what came later', async () => {
    const later = { const: 1, contains: false, propertyNames: { maxLength: 0 }, $id: 'https://schemas.example/a' };
    expect(await checkValue({ $schema: draft4Uri, ...later }, [2])).toBeUndefined();
    expect(await checkValue({ $schema: draft4Uri, ...later }, { a: 2 })).toBeUndefined();
    expect((await checkResponseSchema({ $schema: draft4Uri, exclusiveMinimum: 1 }))?.message).toContain('boolean');
  });
});

describe('draft 7', () => {
  it.each([...inBothDrafts, ...inDraft7])('%s', (...found) => expectCase(found, draft7Uri));
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

  it('is 7 where nothing is said and items is a list, and 2020-12 where it is none', async () => {
    expect(await checkResponseSchema(tuple)).toBeUndefined();
    expect(await checkValue(tuple, ['a'])).toMatchObject({ path: '/0' });
    // Draft 7 does not know prefixItems.
    const unsaid = { prefixItems: [{ type: 'number' }], items: false };
    expect(await checkValue(unsaid, ['a'])).toMatchObject({ path: '/0' });
    expect((await checkResponseSchema({ ...tuple, minItems: -1 }))?.message).toContain('at /minItems');
  });

  it.each([
    'https://json-schema.org/draft/2020-12/schema',
    'https://json-schema.org/draft/2020-12/schema#',
    'http://json-schema.org/draft/2020-12/schema',
  ])('is 2020-12 for %s, where items is no list', async ($schema) => {
    expect((await checkResponseSchema({ $schema, ...tuple }))?.message).toContain('at /items');
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
