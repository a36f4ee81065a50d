// What a client is told about a member of the wrong type: its path, and what was expected there.
import { en } from 'zod/locales';
import * as z from 'zod/mini';

// By name: through `z.locales` every language would be bundled.
z.config(en());

/** `provider.only[0]: Invalid input: expected string, received number`. Values of the client are never repeated. */
export function describeFirstIssue(error: z.core.$ZodError, prefix: readonly PropertyKey[] = []): string {
  const issue = deepestOf(error.issues);
  const path = [...prefix, ...(issue?.path ?? [])];
  const place = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return `${place.replace(/^\./, '') || 'body'}: ${issue?.message ?? 'not valid'}`;
}

/** A union reports itself and, inside, what each of its branches missed: the branch that came furthest says more. */
function deepestOf(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const inner = issue.errors.map(deepestOf).filter((found) => found !== undefined);
  const furthest = inner.sort((a, b) => b.path.length - a.path.length)[0];
  if (furthest === undefined || furthest.path.length === 0) return issue;
  return { ...furthest, path: [...issue.path, ...furthest.path] };
}
