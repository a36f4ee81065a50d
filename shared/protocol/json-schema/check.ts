// Checks schemas, and answers against them, on this thread within the time limit of the event loop. If this limit is
// too short, the check runs in a worker, with the worker's time limit.

import { type Context, createContext, Script } from 'node:vm';
import { type OutputUnit, type Schema, validate } from '@cfworker/json-schema';
import { startStopwatch } from '../../foundation/time/index.ts';
import { readAnswerText } from './json-in-answer.ts';
import { isObject, nestsDeeperThan, plainCopy, UnusableSchema } from './json-value.ts';
import {
  PatternsTooHeavy,
  type PreparationState,
  type PreparedSchema,
  prepareSchema,
  type SchemaFault,
} from './prepare-schema.ts';
import { answerMaxDepth } from './schema-bounds.ts';

export interface ValueProblem {
  /** Position in the value, as a JSON pointer. The empty pointer is the value itself. */
  readonly path: string;
  /** Path of the fault and the rule of the schema, such as `/items/0/price: required`. Never a value. */
  readonly mismatch: string;
  readonly message: string;
}

export type AnswerCheck =
  /** `text` is the answer without code fence, byte order mark and surrounding whitespace, otherwise as it came. */
  | { readonly kind: 'valid'; readonly text: string }
  /** `problem` continues the sentence "The answer …" and is meant for logs. */
  | {
      readonly kind: 'invalid';
      readonly problem: string;
      readonly mismatch: string;
      /** Set if the check itself exceeded a bound, which the check of a similar answer would too. */
      readonly isUnchecked?: true;
    };

export interface Limits {
  readonly maxMs: number;
  readonly patternWeightMax: number;
}

/**
 * A value with `over`, which is the limit that ended the work, or would have. The value is the result if no more time
 * is available elsewhere.
 */
export interface TimedResult<Value> {
  readonly value: Value;
  readonly over?: 'schema' | 'value';
}

/** Prepared schemas, which live as long as the schemas. A schema must not change after it was passed in. */
const preparedSchemas = new WeakMap<object, PreparedSchema>();

/** Returns the prepared schema, or the reason why it cannot be used. */
function prepare(schema: unknown, limits: Limits): TimedResult<PreparedSchema | SchemaFault> {
  const key = typeof schema === 'object' && schema !== null ? schema : undefined;
  const known = key && preparedSchemas.get(key);
  if (known !== undefined) return { value: known };
  const { patternWeightMax } = limits;
  const preparing: PreparationState = { patternWeightMax, fault: new UnusableSchema('', 'takes too long to be read') };
  try {
    const run = runBounded(() => prepareSchema(schema, preparing), limits.maxMs);
    if (run.kind === 'time_over') return { value: preparing.fault, over: 'schema' };
    if (run.kind === 'too_deep') return { value: preparing.fault };
    if (key !== undefined) preparedSchemas.set(key, run.value);
    return { value: run.value };
  } catch (cause) {
    if (cause instanceof PatternsTooHeavy) return { value: preparing.fault, over: 'schema' };
    if (cause instanceof UnusableSchema) return { value: { message: cause.message } };
    throw cause;
  }
}

/** Returns the prepared form of a schema that was found to be usable. */
function prepareUsable(schema: unknown, limits: Limits): TimedResult<PreparedSchema | undefined> {
  const { value, over } = prepare(schema, limits);
  if (over !== undefined) return { value: undefined, over };
  if ('message' in value) throw new Error(`A schema was used that has a fault: ${value.message}`);
  return { value };
}

export function schemaFault(schema: unknown, limits: Limits): TimedResult<SchemaFault | undefined> {
  const { value, ...timed } = prepare(schema, limits);
  return { ...timed, value: 'message' in value ? { message: value.message } : undefined };
}

export function answerCheck(schema: unknown, answer: string, limits: Limits): TimedResult<AnswerCheck> {
  const elapsedMs = startStopwatch();
  const prepared = prepareUsable(schema, limits);
  const read = readAnswerText(answer);
  if (read.kind === 'unreadable')
    return { value: { kind: 'invalid', problem: read.problem, mismatch: `/: ${read.problem}` } };
  const { value: problem, ...timed } = firstProblem(prepared, read.value, limits.maxMs - elapsedMs());
  if (problem === undefined) return { value: { kind: 'valid', text: read.text } };
  const place = problem.path === '' ? 'its root' : problem.path;
  const { message, mismatch } = problem;
  const isUnchecked = problem === outOfTime || problem === tooDeep;
  const invalid = { kind: 'invalid', problem: `fails at ${place}: ${message}`, mismatch } as const;
  return { ...timed, value: isUnchecked ? { ...invalid, isUnchecked } : invalid };
}

export function valueProblem(schema: unknown, value: unknown, limits: Limits): TimedResult<ValueProblem | undefined> {
  const elapsedMs = startStopwatch();
  const prepared = prepareUsable(schema, limits);
  if (nestsDeeperThan(value, answerMaxDepth)) {
    return { value: atRoot(`nests deeper than ${answerMaxDepth} levels`) };
  }
  const plain = plainCopy(value);
  if (plain === undefined) return { value: atRoot('is no JSON value') };
  return firstProblem(prepared, plain.copy, limits.maxMs - elapsedMs());
}

const atRoot = (message: string): ValueProblem => ({ path: '', message, mismatch: `/: ${message}` });
const outOfTime = atRoot('could not be checked against the schema in time');
const tooDeep = atRoot('could not be checked: it recurses too deeply');

/** Returns the most informative reason why the value does not satisfy the schema. */
function firstProblem(
  { value: prepared, over }: TimedResult<PreparedSchema | undefined>,
  value: unknown,
  leftMs: number,
): TimedResult<ValueProblem | undefined> {
  if (prepared === undefined || leftMs < 1) return { value: outOfTime, over: over ?? 'value' };
  const { schema, draft, lookup, wantUnique } = prepared;
  const check = () => withItemsSeen(value, wantUnique, () => validate(value, schema, draft, lookup));
  const run = runBounded(check, leftMs);
  if (run.kind === 'time_over') return { value: outOfTime, over: 'value' };
  if (run.kind === 'too_deep') return { value: tooDeep };
  const { valid, errors } = run.value;
  if (valid) return { value: undefined };
  const unit = errors.find(({ keyword }) => !passesOn.has(keyword)) ?? errors[0];
  if (unit === undefined) throw new Error('The validator refused a value without a reason');
  const path = shorten(unit.instanceLocation.slice(1));
  return { value: { path, message: messageOf(unit), mismatch: mismatchOf(unit, errors) } };
}

const missingMember = /required property "(.*)"/s;

function mismatchOf(unit: OutputUnit, errors: readonly OutputUnit[]): string {
  const missing = unit.keyword === 'required' ? missingMember.exec(unit.error)?.[1] : undefined;
  const path = unit.instanceLocation.slice(1) + (missing === undefined ? '' : `/${missing}`);
  // The keyword before a `false` schema reports it, about fields or items that are not named.
  const rule = unit.keyword === 'false' ? errors[errors.indexOf(unit) - 1]?.keyword : undefined;
  return `${path === '' ? '/' : shorten(path)}: ${rule ?? unit.keyword}`;
}

/** Keywords that only report a failure of a schema inside them, which follows in the list. */
const passesOn: ReadonlySet<string> = new Set([
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependencies',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

function messageOf({ keyword, error }: OutputUnit): string {
  if (keyword === 'false') return 'is not allowed here';
  // The validator would list all values.
  if (keyword === 'enum' || keyword === 'const') return 'is not among the allowed values';
  return shorten(error);
}

const textMaxCharacters = 160;
const shorten = (text: string): string =>
  text.length <= textMaxCharacters ? text : `${text.slice(0, textMaxCharacters)}…`;

// Runs a client's schema rules to their end or to a time limit. A step counter would need a hook in the library and
// would not count regular expressions; V8's own interrupt stops both. The limit is processor time of this thread, not a
// wait.

type BoundedRun<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'time_over' }
  /** The work exceeded the stack. */
  | { readonly kind: 'too_deep' };

/** The script that calls the work, because only a script can have a time limit. */
const callWork = new Script('work()');
let box: { work?: () => unknown } & Context;

/** Calls `work`, which must not wait for anything. Throws its errors. */
export function runBounded<Value>(work: () => Value, maxMs: number): BoundedRun<Value> {
  // The context is created on first use, because it takes a millisecond.
  box ??= createContext({});
  box.work = work;
  try {
    return { kind: 'done', value: callWork.runInContext(box, { timeout: Math.ceil(maxMs) }) };
  } catch (cause) {
    // The code and name are compared, because an error of another realm is not an instance of this realm's Error.
    const { code, name } = cause as { code?: unknown; name?: unknown };
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return { kind: 'time_over' };
    if (name === 'RangeError') return { kind: 'too_deep' };
    throw cause;
  } finally {
    delete box.work;
  }
}

// Finds lists that repeat an item, in one pass, because the validator compares each item with each other item, which
// takes a minute for 20,000 items.

/** Returns true if a list anywhere in a value, the value itself included, has two equal items. */
function hasRepeatedItems(value: unknown): boolean {
  const ids = new Map<string, number>();
  let isRepeated = false;
  /** Returns equal ids only for equal values. */
  const idOf = (text: string): number => {
    const id = ids.get(text) ?? ids.size;
    ids.set(text, id);
    return id;
  };
  const identify = (one: unknown): number => {
    if (Array.isArray(one)) {
      const items = one.map(identify);
      isRepeated ||= new Set(items).size < items.length;
      return idOf(`[${items.join()}]`);
    }
    if (typeof one === 'string') return idOf(`"${one}`);
    if (!isObject(one)) return idOf(String(one));
    const names = Object.keys(one).sort();
    return idOf(`{${names.map((name) => `${idOf(`"${name}`)}:${identify(one[name])}`).join()}}`);
  };
  identify(value);
  return isRepeated;
}

/** Runs the rules of schemas on a value; if no list of it repeats an item, the validator skips that rule. */
function withItemsSeen<Result>(value: unknown, wantUnique: readonly Schema[], run: () => Result): Result {
  if (wantUnique.length === 0 || hasRepeatedItems(value)) return run();
  for (const schema of wantUnique) schema.uniqueItems = false;
  try {
    return run();
  } finally {
    for (const schema of wantUnique) schema.uniqueItems = true;
  }
}
