// Lists the drafts, and the valid values of each keyword in each draft. An unlisted keyword means nothing in that
// draft. The copy for the validator omits it, because the validator mixes drafts.
import { isObject, UnusableSchema } from './json-value.ts';

export type SchemaDraft = '2020-12' | '2019-09' | '7' | '6' | '4';

const drafts: ReadonlyMap<unknown, SchemaDraft> = new Map([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['http://json-schema.org/draft-07/schema', '7'],
  ['http://json-schema.org/draft-06/schema', '6'],
  ['http://json-schema.org/draft-04/schema', '4'],
]);

/**
 * Returns the draft of a URI. All are commonly written with either protocol, and with or without the empty fragment.
 */
function draftOf(uri: unknown): SchemaDraft | undefined {
  if (typeof uri !== 'string') return undefined;
  const [withoutFragment = '', fragment = ''] = uri.split('#', 2);
  if (fragment !== '') return undefined;
  return drafts.get(withoutFragment) ?? drafts.get(withoutFragment.replace(/^https?/, swapProtocol));
}

const swapProtocol = (protocol: string): string => (protocol === 'http' ? 'https' : 'http');

/** Returns undefined if `$schema` is absent. Throws UnusableSchema when it names an unknown draft. */
export function readDraft(schema: unknown): SchemaDraft | undefined {
  if (!isObject(schema) || schema.$schema === undefined) return undefined;
  const draft = draftOf(schema.$schema);
  if (draft === undefined) throw new UnusableSchema('/$schema', 'must name draft 2020-12, 2019-09, 7, 6 or 4');
  return draft;
}

export const isDraft = (uri: unknown, draft: SchemaDraft): boolean => draftOf(uri) === draft;

/** True if keywords next to a `$ref` mean nothing. */
export const refIsAlone = (draft: SchemaDraft): boolean => validatorDraft(draft) === '7';

/** Returns the draft for the validator. Differences of drafts 6 and 4 are rewritten to draft 7. */
export const validatorDraft = (draft: SchemaDraft): '2020-12' | '2019-09' | '7' =>
  draft === '6' || draft === '4' ? '7' : draft;

export interface Keyword {
  /** Continues the sentence "The schema at /a/b …". */
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
  /** Kind of subschemas in the value. */
  readonly holds?: 'schema' | 'schemas' | 'members' | 'members_or_names';
  readonly role?: 'annotation' | 'pattern' | 'pattern_names' | undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isSchema = (value: unknown): boolean => isObject(value) || typeof value === 'boolean';
const isSchemaList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isNameList = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isMapOf = (value: unknown, fits: (member: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(fits);

const typeNames: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const isTypeName = (value: unknown): boolean => typeNames.has(value);

/** True for any text from which a URL can be read, relative to some base. */
const isReference = (value: unknown): boolean =>
  typeof value === 'string' && URL.canParse(value, 'https://base.invalid/');
const isIdentifier = (value: unknown): boolean => isReference(value) && /^[^#]+#?$/.test(value as string);
const isAnchor = (value: unknown): boolean => isText(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value as string);

const schema: Keyword = { must: 'must be an object or a boolean', fits: isSchema, holds: 'schema' };
const schemas: Keyword = { must: 'must be a list of schemas, not empty', fits: isSchemaList, holds: 'schemas' };
const schemaMap: Keyword = { must: 'must be an object of schemas', fits: isObject, holds: 'members' };
const count: Keyword = {
  must: 'must be a whole number, 0 or more',
  fits: (value) => Number.isInteger(value) && (value as number) >= 0,
};
const number: Keyword = { must: 'must be a number', fits: (value) => typeof value === 'number' };
const names: Keyword = { must: 'must be a list of different strings', fits: isNameList };
const annotation: Keyword = { must: 'must be a string', fits: isText, role: 'annotation' };
const mark: Keyword = { must: 'must be a boolean', fits: (value) => typeof value === 'boolean', role: 'annotation' };
const reference: Keyword = { must: 'must be a URI reference', fits: isReference };
const anchor: Keyword = { must: 'must be a plain name', fits: isAnchor };

/** Keywords of drafts 7 and later. */
const common: Readonly<Record<string, Keyword>> = {
  $comment: annotation,
  title: annotation,
  description: annotation,
  // No draft asserts the format unless a reader of the schema requests it.
  format: annotation,
  contentEncoding: annotation,
  contentMediaType: annotation,
  examples: { must: 'must be a list', fits: Array.isArray, role: 'annotation' },
  readOnly: mark,
  writeOnly: mark,
  $ref: reference,
  $defs: schemaMap,
  definitions: schemaMap,
  type: {
    must: 'must be one of the seven type names, or a list of different ones',
    fits: (value) => isTypeName(value) || (isNameList(value) && isSchemaList(value) && (value as []).every(isTypeName)),
  },
  enum: { must: 'must be a list', fits: Array.isArray },
  const: { must: 'must be a value', fits: () => true },
  multipleOf: { must: 'must be a number above 0', fits: (value) => typeof value === 'number' && value > 0 },
  maximum: number,
  exclusiveMaximum: number,
  minimum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: { must: 'must be a string', fits: isText, role: 'pattern' },
  maxItems: count,
  minItems: count,
  uniqueItems: { must: 'must be a boolean', fits: (value) => typeof value === 'boolean' },
  contains: schema,
  maxProperties: count,
  minProperties: count,
  required: names,
  properties: schemaMap,
  patternProperties: { ...schemaMap, role: 'pattern_names' },
  additionalProperties: schema,
  propertyNames: schema,
  // The keyword is deprecated since 2019-09, but schemas still have it.
  dependencies: {
    must: 'must be an object of schemas or lists of different strings',
    fits: (value) => isMapOf(value, (member) => isSchema(member) || isNameList(member)),
    holds: 'members_or_names',
  },
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: the keyword is called so, and this table is not awaited.
  then: schema,
  else: schema,
};

const itemsOrList: Keyword = {
  must: 'must be a schema or a list of schemas',
  fits: (value) => isSchema(value) || isSchemaList(value),
  holds: 'schemas',
};

/** Keywords that are new in 2019-09. */
const since201909: Readonly<Record<string, Keyword>> = {
  $id: { must: 'must be a URI reference without a fragment', fits: isIdentifier },
  $anchor: anchor,
  $vocabulary: {
    must: 'must be an object of booleans',
    fits: (value) => isMapOf(value, (member) => typeof member === 'boolean'),
    role: 'annotation',
  },
  deprecated: mark,
  contentSchema: { ...schema, role: 'annotation' },
  unevaluatedItems: schema,
  unevaluatedProperties: schema,
  dependentSchemas: schemaMap,
  dependentRequired: {
    must: 'must be an object of lists of different strings',
    fits: (value) => isMapOf(value, isNameList),
  },
  maxContains: count,
  minContains: count,
};

const draft202012: Readonly<Record<string, Keyword>> = {
  ...common,
  ...since201909,
  $dynamicRef: reference,
  $dynamicAnchor: anchor,
  items: { ...schema, must: 'must be an object or a boolean (a list of schemas is called prefixItems)' },
  prefixItems: schemas,
};

const draft201909: Readonly<Record<string, Keyword>> = {
  ...common,
  ...since201909,
  $recursiveRef: { must: 'must be #', fits: (value) => value === '#' },
  $recursiveAnchor: { ...mark, role: undefined },
  items: itemsOrList,
  additionalItems: schema,
};

const draft7: Readonly<Record<string, Keyword>> = {
  ...common,
  $id: reference,
  items: itemsOrList,
  additionalItems: schema,
};

const without = (keywords: Readonly<Record<string, Keyword>>, ...names: readonly string[]): Record<string, Keyword> =>
  Object.fromEntries(Object.entries(keywords).filter(([name]) => !names.includes(name)));

const draft6 = without(
  draft7,
  '$comment',
  'if',
  'then',
  'else',
  'readOnly',
  'writeOnly',
  'contentEncoding',
  'contentMediaType',
);

const isExclusive: Keyword = { must: 'must be a boolean', fits: (value) => typeof value === 'boolean' };

const draft4: Readonly<Record<string, Keyword>> = {
  ...without(draft6, '$id', 'const', 'contains', 'propertyNames', 'examples'),
  id: reference,
  exclusiveMinimum: isExclusive,
  exclusiveMaximum: isExclusive,
};

const tables: Readonly<Record<SchemaDraft, ReadonlyMap<string, Keyword>>> = {
  '2020-12': new Map(Object.entries(draft202012)),
  '2019-09': new Map(Object.entries(draft201909)),
  '7': new Map(Object.entries(draft7)),
  '6': new Map(Object.entries(draft6)),
  '4': new Map(Object.entries(draft4)),
};

export const keywordOf = (draft: SchemaDraft, name: string): Keyword | undefined => tables[draft].get(name);
