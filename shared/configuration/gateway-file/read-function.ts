// A revision as operators publish it, without a gateway file around it: in the words of one.
import { autoModelId } from '../../foundation/constants/index.ts';
import type { JsonObject } from '../../protocol/wire/index.ts';
import type { FunctionDocument } from '../stored-functions/index.ts';
import { checkFunction } from './check-functions.ts';
import { toIssues } from './fields.ts';
import { functionSchema } from './function-schema.ts';
import { checkWith, type Issue, oncePerPlace, type Path, type Problem, toProblem } from './problems.ts';
import { isMapping, readYaml } from './yaml-source.ts';

export type ReadFunction =
  | { readonly ok: true; readonly document: FunctionDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] };

export interface Publication {
  readonly functionId: string;
  /** Of the function. Where it is undefined, or a text says another one, that of the text. */
  readonly kind: FunctionDocument['kind'] | undefined;
  /** As the file writes it: its members, or their text (YAML or JSON), in which its kind may stand too. */
  readonly revision: string | JsonObject;
  /** Its id, where it says none or another one. */
  readonly revisionId?: string | undefined;
  /** It is the one that serves from then on. */
  readonly activates: boolean;
  /** Ids of those that it may call. */
  readonly models: readonly string[];
  /** Of them those of its workspace, where that has not all. */
  readonly workspaceModels: readonly string[] | undefined;
}

type LineOf = (path: Path) => number | undefined;

/** Never throws. A problem of the revision has a path below `revision`, one of the text as a whole none. */
export function readPublication({ revision, ...published }: Publication): ReadFunction {
  if (typeof revision !== 'string') return checkRevision(published, published.kind, revision, () => undefined);
  const source = readYaml(revision);
  const refused = (issues: readonly Issue[]) =>
    ({ ok: false, problems: issues.map((issue) => toProblem(issue)) }) as const;
  if (source.issues.length > 0 || source.kind === 'unreadable') return refused(source.issues);
  const { value, lineOf } = source;
  if (!isMapping(value)) return refused([{ path: [], message: 'must be a mapping: what a revision holds' }]);
  const { kind = published.kind, ...members } = value;
  return checkRevision(published, kind, members, lineOf);
}

function checkRevision(
  { functionId, revisionId, activates, models, workspaceModels }: Omit<Publication, 'revision' | 'kind'>,
  kind: unknown,
  members: JsonObject,
  lineOf: LineOf,
): ReadFunction {
  const revision: JsonObject = revisionId === undefined ? members : { ...members, id: revisionId };
  const state = activates ? { state: 'activated' } : {};
  const active = activates ? { active: revision.id } : {};
  const revisions = [{ ...revision, ...state }];
  const declared = { id: functionId, kind, ...active, revisions };
  const checked = checkWith(functionSchema, declared);
  const issues: Issue[] = checked.ok ? [] : toIssues(checked.issues);
  const known = { all: new Set([...models, autoModelId]), own: workspaceModels };
  checkFunction({ value: declared, path: [] }, known, ({ path }, message) => void issues.push({ path, message }));
  if (checked.ok && issues.length === 0) return { ok: true, document: checked.value };
  const problems = oncePerPlace(issues).map(({ path, message }) => {
    const isOfRevision = path[0] === 'revisions';
    const within = isOfRevision ? path.slice(2) : path;
    return toProblem({ path: isOfRevision ? ['revision', ...within] : path, message }, lineOf(within));
  });
  return { ok: false, problems };
}
