// Defines schema parts of fields, and checks fields against them.

import * as z from 'zod/mini';
import { fail, type GatewayError, nearestOf } from '../../errors/index.ts';

type Schema = z.core.$ZodType;

/** The schema of a list's items, by the list's schema, for the description of the API. */
export const itemSchemas = new WeakMap<Schema, Schema>();

interface ListOptions {
  readonly itemsMin?: number;
  readonly itemsMax?: number;
  /**
   * True if an item surely satisfies its schema, so that zod does not check a list of fifty thousand messages one by
   * one.
   */
  readonly isGood?: (item: unknown) => boolean;
}

/**
 * Returns a list schema whose validation ends with its first bad item. zod's own list reports every bad item, so a body
 * of a hundred thousand bad items would cost as many reports.
 */
export function listOf<Item extends Schema>(
  item: Item,
  { itemsMin = 0, itemsMax = Number.POSITIVE_INFINITY, isGood = () => false }: ListOptions = {},
): z.ZodMiniType<z.infer<Item>[], z.input<Item>[]> {
  const checks = [
    ...(itemsMin === 0 ? [] : [z.minLength(itemsMin)]),
    ...(Number.isFinite(itemsMax) ? [z.maxLength(itemsMax)] : []),
  ] as z.core.$ZodCheck<unknown[]>[];
  const everyItem = (payload: z.core.ParsePayload<unknown[]>): void => {
    if (payload.issues.length > 0) return;
    for (const [index, value] of payload.value.entries()) {
      if (isGood(value)) continue;
      const issue = z.safeParse(item, value, { error: describeIssue }).error?.issues[0];
      if (issue === undefined) continue;
      payload.issues.push({ ...issue, path: [index, ...issue.path], input: value } as z.core.$ZodRawIssue);
      return;
    }
  };
  const list = z.array(z.unknown()).check(...checks, everyItem);
  itemSchemas.set(list, item);
  return list as unknown as z.ZodMiniType<z.infer<Item>[], z.input<Item>[]>;
}

interface CheckOptions {
  readonly code?: 'invalid_request' | 'invalid_response_schema';
  /** Path of the fields. */
  readonly prefix?: readonly PropertyKey[];
  /** Maximum number of faults that are named. The default is only the first. */
  readonly faultsShown?: number;
}

/**
 * Checks the fields. Throws for a value that does not fit, for example `provider.only[0]: must be a text`. Values of
 * the client are never repeated.
 */
export function checkMembers<Checked extends Schema>(
  schema: Checked,
  members: unknown,
  { code = 'invalid_request', prefix = [], faultsShown = 1 }: CheckOptions = {},
): z.output<Checked> {
  const good = goodMembers(schema, members);
  if (good !== undefined) return good as z.output<Checked>;
  const result = z.safeParse(schema, members, { error: describeIssue });
  if (result.success) return result.data;
  const faults = result.error.issues.slice(0, faultsShown).flatMap((issue) => {
    const { path, message, ...deepest } = deepestOf([issue]) ?? issue;
    if (deepest.code !== 'unrecognized_keys') return [{ param: toPath([...prefix, ...path]), message }];
    return deepest.keys.slice(0, faultsShown).map((name) => ({
      param: toPath([...prefix, ...path, name]),
      message: describeUnknown(name, message),
    }));
  });
  // A fault of the whole object follows from the faults of fields.
  const fieldFaults = faults.filter(({ param }) => param !== '');
  const namedFaults = (fieldFaults.length > 0 ? fieldFaults : faults).slice(0, faultsShown);
  const lines = namedFaults.map(({ param, message }) => `${param || 'body'}: ${message}`);
  throw fail(code, { message: lines.join('; '), param: namedFaults[0]?.param || undefined });
}

/**
 * Returns the fields if each sent field satisfies its schema, because zod makes a report for each of the sixty possible
 * fields. Returns undefined if zod has to check the whole.
 */
function goodMembers(schema: Schema, members: unknown): Readonly<Record<string, unknown>> | undefined {
  const loose = looseObjectOf(schema);
  if (loose === undefined || typeof members !== 'object' || members === null) return undefined;
  const good: Record<string, unknown> = { ...members };
  for (const name of loose.required) if (good[name] === undefined) return undefined;
  for (const name of Object.keys(good)) {
    const result = Object.hasOwn(loose.shape, name) ? z.safeParse(loose.shape[name] as Schema, good[name]) : undefined;
    if (result?.success === false) return undefined;
    if (result !== undefined) good[name] = result.data;
  }
  return good;
}

interface LooseObject {
  readonly shape: Readonly<Record<string, Schema>>;
  /** Fields that must be sent. */
  readonly required: readonly string[];
}

const looseObjects = new WeakMap<Schema, { readonly loose: LooseObject | undefined }>();

/** Returns the fields of an object that may have others, and no check of the whole; undefined for any other schema. */
function looseObjectOf(schema: Schema): LooseObject | undefined {
  const known = looseObjects.get(schema);
  if (known !== undefined) return known.loose;
  const { type, shape, catchall, checks } = schema._zod.def as z.core.$ZodObjectDef;
  const isLoose = type === 'object' && catchall?._zod.def.type === 'unknown' && (checks ?? []).length === 0;
  const required = isLoose ? Object.keys(shape).filter((name) => shape[name]?._zod.optin !== 'optional') : [];
  const loose = isLoose ? { shape, required } : undefined;
  looseObjects.set(schema, { loose });
  return loose;
}

/**
 * Returns the fault of an error as a position and a problem, for someone who wrote the fields into a larger document.
 */
export function memberFault({ param = '', message }: GatewayError): {
  readonly path: readonly (string | number)[];
  readonly message: string;
} {
  const steps = param.split(/[.[\]]+/).filter((step) => step !== '');
  const path = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  return { path, message: message.startsWith(param) ? message.slice(param.length).replace(/^:? /, '') : message };
}

const nameMaxCharacters = 64;

const toPath = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step).slice(0, nameMaxCharacters)}`))
    .join('')
    .replace(/^\./, '');

/**
 * Returns the deepest issue. A union reports itself and, inside, the faults of each branch. The branch that matched
 * furthest is the most informative.
 */
function deepestOf(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const inner = issue.errors.map(deepestOf).filter((found) => found !== undefined);
  const furthest = inner.sort((a, b) => b.path.length - a.path.length)[0];
  if (furthest === undefined || furthest.path.length === 0) return issue;
  return { ...furthest, path: [...issue.path, ...furthest.path] };
}

// Describes a field's fault for the developer who sent it.

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const nameOf = (type: string): string => typeNames[type] ?? type;

/** Returns the fields of the object that has an unknown field. */
function knownNames(schema: z.core.$ZodType | z.core.$ZodCheck | undefined): string[] {
  const shape: unknown = (schema?._zod.def as { readonly shape?: object } | undefined)?.shape;
  return typeof shape === 'object' && shape !== null ? Object.keys(shape) : [];
}

/** Describes an unknown field. `known` is the known names, with spaces between them. */
function describeUnknown(name: string, known: string): string {
  const nearest = nearestOf(name, known.split(' '));
  return `is no member that the gateway knows${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** Describes an issue without the field's name, and without the sent value. */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is missing';
  switch (issue.code) {
    case 'unrecognized_keys':
      return knownNames(issue.inst).join(' ');
    case 'invalid_type':
      return `must be ${nameOf(issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`;
    case 'invalid_union':
      return describeUnion(issue.errors);
    case 'too_small':
      return describeSize(issue.origin, issue.minimum, issue.inclusive === false ? 'above' : 'at least');
    case 'too_big':
      return describeSize(issue.origin, issue.maximum, issue.inclusive === false ? 'below' : 'at most');
    default:
      return 'is malformed';
  }
}

const countedAs: Readonly<Record<string, string>> = { array: 'items', string: 'characters' };

function describeSize(origin: string, bound: number | bigint, than: string): string {
  const counted = countedAs[origin];
  if (counted === undefined) return `must be ${than} ${bound}`;
  return than === 'at least' && bound === 1 ? 'must not be empty' : `must have ${than} ${bound} ${counted}`;
}

/** Describes a union that has no branch for the sent type, by all types that a branch accepts. */
function describeUnion(branches: readonly (readonly z.core.$ZodIssue[])[]): string {
  const first = branches.map(([issue]) => issue);
  const types = first.flatMap((issue) => (issue?.code === 'invalid_type' && issue.path.length === 0 ? [issue] : []));
  if (types.length < first.length) {
    const issue = first.find((one) => one !== undefined);
    if (issue?.code === 'unrecognized_keys') return describeUnknown(issue.keys[0] ?? '', issue.message);
    return issue?.message ?? 'is malformed';
  }
  return `must be ${types.map(({ expected }) => nameOf(expected)).join(' or ')}`;
}
