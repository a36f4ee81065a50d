// A revision as operators publish it, without a gateway file around it: in the words of one.
import { autoModelId } from '../../foundation/constants/index.ts';
import type { FunctionDocument } from '../stored-functions/index.ts';
import { checkFunction } from './check-functions.ts';
import { toIssues } from './fields.ts';
import { functionSchema } from './function-schema.ts';
import { checkWith, formatPath, type Issue, type Path, type Problem, toProblem } from './problems.ts';
import { readYaml } from './yaml-source.ts';

export type ReadFunction =
  | { readonly ok: true; readonly document: FunctionDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface Publication {
  readonly functionId: string;
  readonly kind: unknown;
  /** With its id. */
  readonly revision: Readonly<Record<string, unknown>>;
  /** It is the one that serves from then on. */
  readonly activates: boolean;
  /** Ids of those that it may call. */
  readonly models: readonly string[];
  /** Of them those of its workspace, where that has not all. */
  readonly workspaceModels: readonly string[] | undefined;
}

type LineOf = (path: Path) => number | undefined;

/** Never throws. A problem of the revision has a path below `revision`. */
export function readPublication(
  { functionId, kind, revision, activates, models, workspaceModels }: Publication,
  lineOf: LineOf = () => undefined,
): ReadFunction {
  const state = activates ? { state: 'activated' } : {};
  const active = activates ? { active: revision.id } : {};
  const revisions = [{ ...revision, ...state }];
  const declared = { id: functionId, kind, ...active, revisions };
  const checked = checkWith(functionSchema, declared);
  const issues: Issue[] = checked.ok ? [] : toIssues(checked.issues);
  const known = { all: new Set([...models, autoModelId]), own: workspaceModels };
  checkFunction({ value: declared, path: [] }, known, ({ path }, message) => {
    if (!issues.some((issue) => formatPath(issue.path) === formatPath(path))) issues.push({ path, message });
  });
  if (checked.ok && issues.length === 0) return { ok: true, document: checked.value };
  const problems = issues.map(({ path, message }) => {
    const isOfRevision = path[0] === 'revisions';
    const within = isOfRevision ? path.slice(2) : path;
    return toProblem({ path: isOfRevision ? ['revision', ...within] : path, message }, lineOf(within));
  });
  return { ok: false, problems };
}

/** What the text leaves out. */
export interface PublishedText extends Pick<Publication, 'functionId' | 'activates' | 'models' | 'workspaceModels'> {
  readonly kind: FunctionDocument['kind'] | undefined;
  readonly revisionId: string | undefined;
}

/** YAML or JSON: a revision, with `kind` where the function is new. Never throws. */
export function readPublicationText(text: string, { kind, revisionId, ...published }: PublishedText): ReadFunction {
  const source = readYaml(text);
  const refused = (issues: readonly Issue[]) =>
    ({ ok: false, problems: issues.map((issue) => toProblem(issue)) }) as const;
  if (source.issues.length > 0 || source.kind === 'unreadable') return refused(source.issues);
  const { value, lineOf } = source;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refused([{ path: [], message: 'must be a mapping: what a revision holds' }]);
  }
  const { kind: written, ...members }: Record<string, unknown> = { ...value };
  const revision = revisionId === undefined ? members : { ...members, id: revisionId };
  return readPublication({ ...published, kind: written ?? kind, revision }, lineOf);
}
