// Defines the problems of a gateway file, with their places. A path is written as a person would write it. Messages
// quote names (of models, providers, steps …) and plain words in the place of a name, never other values: a secret may
// have been written in the wrong place.
import * as z from 'zod';
import { nearestOf } from '../../errors/index.ts';

export interface Problem {
  /** Path such as `models[0].providers[1].input_price_per_million`. Empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** Line, counted from 1. Absent if the parser does not know it. */
  readonly line?: number;
}

export type Path = readonly PropertyKey[];

/** A problem whose path is still a list. */
export interface Issue {
  readonly path: Path;
  readonly message: string;
}

export const toProblem = ({ path, message }: Issue, line?: number): Problem => ({
  path: formatPath(path),
  message,
  ...(line === undefined ? {} : { line }),
});

/** Returns the line of a path in the file, counted from 1. */
export type LineOf = (path: Path) => number | undefined;

/** Sorts problems in the order of the file; problems without a line are last. */
export const sortProblems = (problems: readonly Problem[]): Problem[] =>
  problems.toSorted((a, b) => lineOrLast(a) - lineOrLast(b));

const lineOrLast = ({ line }: Problem): number => line ?? Number.MAX_SAFE_INTEGER;

/**
 * Returns the first issue of each place, which is the nearest to its cause, because an invalid id is also an unknown
 * name.
 */
export function oncePerPlace(issues: readonly Issue[]): Issue[] {
  const first = new Map<string, Issue>();
  for (const issue of issues) {
    const place = formatPath(issue.path);
    if (!first.has(place)) first.set(place, issue);
  }
  return [...first.values()];
}

/** Writes a problem in one line. `file` is the name used for an empty path. */
export const formatProblem = ({ path, message, line }: Problem, file: string): string =>
  `${path === '' ? file : path}: ${message}${line === undefined ? '' : ` (line ${line})`}`;

const plainName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const name = String(step);
    if (!plainName.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: z.core.$ZodIssue[] };

/**
 * Checks with messages for people. The schema's own messages come first, then the messages of this file, then zod's
 * messages.
 */
export function checkWith<Output>(schema: z.core.$ZodType<Output>, value: unknown): Checked<Output> {
  const result = z.safeParse(schema, value, { error: describeIssue });
  return result.success ? { ok: true, value: result.data } : { ok: false, issues: result.error.issues };
}

const typeNames: Record<string, string> = {
  object: 'a mapping',
  record: 'a mapping',
  array: 'a list',
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type') return `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return oneOf(issue.values.map(String), issue.input);
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message;
  // The known names are for `toIssues`.
  if (issue.code === 'unrecognized_keys') return namesOf(issue.inst);
  return undefined;
}

const namesOf = (schema: z.core.$ZodType | z.core.$ZodCheck | undefined): string | undefined =>
  schema instanceof z.core.$ZodObject ? Object.keys(schema._zod.def.shape).join(' ') : undefined;

function oneOf(known: readonly string[], written: unknown): string {
  const nearest = typeof written === 'string' ? nearestName(written, known) : undefined;
  return `must be one of ${known.join(', ')}${notThis(written)}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/** Matches short words without several digits in sequence, because a key is neither short nor without digits. */
const plainWord = /^(?!.*\d{4})[A-Za-z0-9][A-Za-z0-9 ._-]{0,23}$/;

/** Matches prefixes of well-known providers' keys. Names of variables and of models do not have them. */
const credentialShape =
  /^(?:(?:sk|pk|rk|gsk|csk|xai|hf|ghp|pplx|nvapi)[-_](?=.*\d)\S{16,}|AIza[\w-]{20,}|A[KS]IA[A-Z0-9]{12,})$/;

/** True for a secret in the place of its name, so that it is not treated as a name and printed. */
export const looksLikeCredential = (text: string): boolean => credentialShape.test(text);

/** Advice if a credential was about to be written into the file. */
export const credentialAdvice = '{ env: NAME }, the credential itself in the variable NAME of the gateway';

export const authAdvice =
  'write auth: { bearer: { env: NAME } }, the credential itself in the variable NAME of the gateway';

/** Returns undefined for a value that may be a secret, or is not a name at all. */
const quoteName = (written: unknown): string | undefined =>
  typeof written === 'string' && plainWord.test(written) ? quote(written) : undefined;

/** Returns the end of a message about a value in the place of a name. */
export function notThis(written: unknown): string {
  const quoted = quoteName(written);
  return quoted === undefined ? '' : `, not ${quoted}`;
}

const namesShownMax = 8;
const nameShownMax = 64;

export const quote = (name: string): string =>
  JSON.stringify(name.length <= nameShownMax ? name : `${name.slice(0, nameShownMax)}…`);

/** Returns the end of a message about a name that is not among the known names. */
export function suggest(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return `did you mean ${nearest}?`;
  const more = known.length - namesShownMax;
  return `known are ${known.slice(0, namesShownMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the shortest known name that begins with this name, else the nearest name. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const longer = known.filter((candidate) => candidate.startsWith(`${name}_`));
  if (longer.length > 0)
    return longer.reduce((least, candidate) => (candidate.length < least.length ? candidate : least));
  return nearestOf(name, known);
}
