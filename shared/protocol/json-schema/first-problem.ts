// Runs the validator over one value and picks the one problem that tells most.
import { type OutputUnit, validate } from '@cfworker/json-schema';
import { runBounded } from './bounded-run.ts';
import { answerCheckMaxMs } from './bounds.ts';
import type { PreparedSchema } from './prepare-schema.ts';

export interface ValueProblem {
  /** Where in the value, as a JSON pointer. Empty: the value itself. */
  readonly path: string;
  readonly message: string;
}

const textMaxCharacters = 160;
const shorten = (text: string): string =>
  text.length <= textMaxCharacters ? text : `${text.slice(0, textMaxCharacters)}…`;

/** Why the value does not satisfy the schema, or why that could not be found out within the time limit. */
export function firstProblem({ schema, draft, lookup }: PreparedSchema, value: unknown): ValueProblem | undefined {
  const checking = runBounded(() => validate(value, schema, draft, lookup), answerCheckMaxMs);
  if (checking.kind === 'time_over') {
    return { path: '', message: `could not be checked against the schema within ${answerCheckMaxMs} ms` };
  }
  if (checking.kind === 'too_deep') return { path: '', message: 'could not be checked: it recurses too deeply' };
  const { valid, errors } = checking.value;
  if (valid) return undefined;
  const unit = errors.find(({ keyword }) => !passesOn.has(keyword)) ?? errors[0];
  if (unit === undefined) throw new Error('The validator refused a value without a reason');
  return { path: shorten(unit.instanceLocation.slice(1)), message: messageOf(unit) };
}

/** Keywords that only say that something below them failed: what failed stands behind them in the list. */
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
  // The validator would repeat all of them.
  if (keyword === 'enum' || keyword === 'const') return 'is not among the allowed values';
  return shorten(error);
}
