// One function as a gateway file writes it, for those who publish a revision without a file.
import type { FunctionDocument } from '../stored-functions/index.ts';
import { toIssues } from './fields.ts';
import { functionSchema } from './function-schema.ts';
import { checkWith, type Problem, toProblem } from './problems.ts';

export type ReadFunction =
  | { readonly ok: true; readonly document: FunctionDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Never throws. */
export function readFunctionDocument(value: unknown): ReadFunction {
  const checked = checkWith(functionSchema, value);
  if (checked.ok) return { ok: true, document: checked.value };
  return { ok: false, problems: toIssues(checked.issues).map((issue) => toProblem(issue)) };
}
