// The whole file is checked before anything of it is used: syntax first, then every section's shape and every reference
// between them in one go, so that all that is wrong is shown at once.
import { referenceIssues } from './check-references.ts';
import { toIssues } from './fields.ts';
import { type GatewayFile, gatewayFileSchema } from './gateway-file.ts';
import { checkWith, type Problem, toProblem } from './problems.ts';
import { readYaml } from './yaml-source.ts';

export type ReadResult =
  | { readonly ok: true; readonly file: GatewayFile }
  | { readonly ok: false; readonly problems: Problem[] };

/** Reads the YAML text of a gateway file. Never throws. */
export function readGatewayFile(text: string): ReadResult {
  const source = readYaml(text);
  if (source.kind === 'unreadable') return { ok: false, problems: source.issues.map((issue) => toProblem(issue)) };
  const checked = checkWith(gatewayFileSchema, source.value);
  const issues = [...source.issues, ...(checked.ok ? [] : toIssues(checked.issues)), ...referenceIssues(source.value)];
  if (checked.ok && issues.length === 0) return { ok: true, file: checked.value };
  const problems = issues.map((issue) => toProblem(issue, source.lineOf(issue.path)));
  return { ok: false, problems: oncePerPlace(problems).sort((a, b) => orderOf(a) - orderOf(b)) };
}

const orderOf = ({ line }: Problem): number => line ?? Number.MAX_SAFE_INTEGER;

/** The first problem of a place is the nearest to its cause: an id of a wrong form also names nothing. */
function oncePerPlace(problems: readonly Problem[]): Problem[] {
  const first = new Map<string, Problem>();
  for (const problem of problems) if (!first.has(problem.path)) first.set(problem.path, problem);
  return [...first.values()];
}
