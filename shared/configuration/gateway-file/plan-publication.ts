// Plans the publication of a revision outside of a gateway file. The names of its fields are those of the file.
import { autoModelId } from '../../foundation/constants/index.ts';
import type { JsonObject } from '../../protocol/wire/index.ts';
import { type AdministrationDependencies, readFunction, readWorkspace, refuseAs } from '../administration/index.ts';
import type { FunctionDocument, FunctionRecord } from '../stored-functions/index.ts';
import { checkFunction } from './check-functions.ts';
import { toIssues } from './fields.ts';
import { functionSchema } from './function-schema.ts';
import type { KnownModels } from './node.ts';
import { checkWith, type Issue, oncePerPlace, type Path, type Problem, toProblem } from './problems.ts';
import { isMapping, readYaml } from './yaml-source.ts';

interface Publication {
  readonly workspace: string;
  readonly functionId: string;
  /** Kind of the function; if absent, the stored one. A different kind in the text takes precedence. */
  readonly kind?: FunctionDocument['kind'];
  /** The revision as the file writes it: its fields, or their text (YAML or JSON), which may contain its kind too. */
  readonly revision: string | JsonObject;
  /** Id of the revision, if its text has no id or another id. */
  readonly revisionId?: string | undefined;
  /** True if the revision becomes the active revision. */
  readonly activates: boolean;
  /** True if the revision becomes active even though its test cases have not passed. */
  readonly skipsCases: boolean;
}

type RefusedPublication = { readonly ok: false; readonly problems: readonly Problem[] };

interface PublicationPlan {
  readonly ok: true;
  readonly revision: FunctionDocument['revisions'][number];
  /**
   * Writes the revision. Throws ChangeFailed if no call could use the revision, if it was activated with another text,
   * or if it would become active before its test cases have passed.
   */
  write(): Promise<{ readonly change: 'created' | 'changed' | 'unchanged'; readonly record: FunctionRecord }>;
}

/**
 * Plans a publication. A problem of the revision has a path below `revision`, a problem of the text as a whole has no
 * path. Throws ChangeFailed.
 */
export async function planPublication(
  deps: Pick<AdministrationDependencies, 'catalogues' | 'workspaceStore' | 'functionStore' | 'clock'>,
  { workspace, functionId: id, skipsCases, ...publication }: Publication,
): Promise<PublicationPlan | RefusedPublication> {
  const { functionStore, clock } = deps;
  const [catalogue, { models }] = await Promise.all([deps.catalogues.read(), readWorkspace(deps, workspace)]);
  const all = new Set([...(catalogue?.models ?? []).map((model) => model.id), autoModelId]);
  const known = { all, workspaceModels: models === 'all' ? undefined : models };
  const { kind = (await functionStore.read(workspace, id))?.kind, revision } = publication;
  const read =
    typeof revision === 'string' ? readText(revision, kind) : { members: revision, kind, lineOf: () => undefined };
  if ('problems' in read) return { ok: false, ...read };
  const result = checkRevision({ ...publication, id }, read, known);
  if (!result.ok) return result;
  const { document } = result;
  return {
    ok: true,
    revision: document.revisions[0] as PublicationPlan['revision'],
    async write() {
      const options = { needsQualified: !skipsCases };
      const change = await functionStore.apply(workspace, document, clock.nowMs(), options).catch(refuseAs('invalid'));
      return { change, record: await readFunction(deps, { workspace, id }) };
    },
  };
}

interface ReadRevision {
  readonly kind: unknown;
  readonly members: JsonObject;
  readonly lineOf: (path: Path) => number | undefined;
}

function readText(text: string, stored: unknown): ReadRevision | Pick<RefusedPublication, 'problems'> {
  const source = readYaml(text);
  const problemsOf = (issues: readonly Issue[]) => ({ problems: issues.map((issue) => toProblem(issue)) });
  if (source.issues.length > 0 || source.kind === 'unreadable') return problemsOf(source.issues);
  const { value, lineOf } = source;
  if (!isMapping(value)) return problemsOf([{ path: [], message: 'must be a mapping: what a revision holds' }]);
  const { kind = stored, ...members } = value;
  return { kind, members, lineOf };
}

function checkRevision(
  { id, revisionId, activates }: Pick<Publication, 'revisionId' | 'activates'> & { readonly id: string },
  { kind, members, lineOf }: ReadRevision,
  known: KnownModels,
): { readonly ok: true; readonly document: FunctionDocument } | RefusedPublication {
  const revision: JsonObject = revisionId === undefined ? members : { ...members, id: revisionId };
  const state = activates ? { state: 'activated' } : {};
  const active = activates ? { active: revision.id } : {};
  const declared = { id, kind, ...active, revisions: [{ ...revision, ...state }] };
  const result = checkWith(functionSchema, declared);
  const issues: Issue[] = result.ok ? [] : toIssues(result.issues);
  checkFunction({ value: declared, path: [] }, known, ({ path }, message) => void issues.push({ path, message }));
  if (result.ok && issues.length === 0) return { ok: true, document: result.value };
  const problems = oncePerPlace(issues).map(({ path, message }) => {
    const isInRevision = path[0] === 'revisions';
    const within = isInRevision ? path.slice(2) : path;
    return toProblem({ path: isInRevision ? ['revision', ...within] : path, message }, lineOf(within));
  });
  return { ok: false, problems };
}
