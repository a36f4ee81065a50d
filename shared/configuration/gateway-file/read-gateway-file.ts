// The whole file is checked before anything of it is used: syntax first, then every section's shape and every
// reference between them in one go, so that a person sees all that is wrong at once.
import { checkReferences } from './check-references.ts';
import { type GatewayFile, gatewayFileSchema } from './gateway-file.ts';
import { rootOf } from './node.ts';
import { checkWith, type Problem, problemAt, toProblems } from './problems.ts';
import { readYaml } from './yaml-source.ts';

export type ReadResult =
  | { readonly ok: true; readonly file: GatewayFile }
  | { readonly ok: false; readonly problems: Problem[] };

/** Reads the YAML text of a gateway file, with its defaults filled in. Never throws. */
export function readGatewayFile(text: string): ReadResult {
  const source = readYaml(text);
  if (source.kind === 'unreadable') return { ok: false, problems: source.problems };
  const checked = checkWith(gatewayFileSchema, source.value);
  const problems = [
    ...source.problems,
    ...(checked.ok ? [] : toProblems(checked.issues)),
    ...referenceProblems(source.value),
  ];
  return checked.ok && problems.length === 0
    ? { ok: true, file: checked.value }
    : { ok: false, problems: oncePerPlace(problems) };
}

function referenceProblems(value: unknown): Problem[] {
  const problems: Problem[] = [];
  checkReferences(rootOf(value), (at, message) => problems.push(problemAt(at.path, message)));
  return problems;
}

/** The first problem of a place is the nearest to its cause: an id of a wrong form also names nothing. */
function oncePerPlace(problems: readonly Problem[]): Problem[] {
  const first = new Map<string, Problem>();
  for (const problem of problems) if (!first.has(problem.path)) first.set(problem.path, problem);
  return [...first.values()];
}
