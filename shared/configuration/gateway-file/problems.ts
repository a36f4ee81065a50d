// What is wrong with a gateway file, and where. A path is written the way a person would write it; no message
// quotes a value of the file: it may be a secret that stands in the wrong place. Names and paths in templates are safe.
import type * as z from 'zod';

export interface Problem {
  /** `models[0].providers[1].input_price_per_million`. Empty: the file as a whole. */
  readonly path: string;
  readonly message: string;
}

export type Path = readonly PropertyKey[];

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: z.core.$ZodIssue[] };

/** Checks with messages for people: the schema's own first, then these, then those of zod. */
export function checkWith<Output>(schema: z.ZodType<Output>, value: unknown): Checked<Output> {
  const result = schema.safeParse(value, { error: describeIssue });
  return result.success ? { ok: true, value: result.data } : { ok: false, issues: result.error.issues };
}

/** One problem per unknown member, one per any other issue. */
export const toProblems = (issues: readonly z.core.$ZodIssue[]): Problem[] =>
  issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => problemAt([...issue.path, key], unknownMember(key, issue.message.split(' '))))
      : [problemAt(issue.path, issue.message)],
  );

export const problemAt = (path: Path, message: string): Problem => ({ path: formatPath(path), message });

const plainName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const name = String(step);
    if (!plainName.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
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
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  return undefined;
}

function unknownMember(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined
    ? `is not known here; known are ${known.join(', ')}`
    : `is not known here; did you mean ${nearest}?`;
}

/** Longer names are nobody's typing error, and comparing them would cost. */
const comparedLengthMax = 64;

function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > comparedLengthMax) return undefined;
  const ranked = known.map((candidate) => ({ candidate, edits: editDistance(name, candidate) }));
  const nearest = ranked.sort((a, b) => a.edits - b.edits)[0];
  return nearest !== undefined && nearest.edits <= Math.max(2, name.length / 3) ? nearest.candidate : undefined;
}

/** Levenshtein: how many letters must be added, dropped or changed. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const changed = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(changed, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}
