// Leaves out of an export the parts of workspaces that name a model, provider or guardrail that is gone. A file with them
// would be refused; left out, they stay as they are stored.
import type { CatalogueDocument } from '../catalogue/index.ts';
import { guardrailReferenceIssues, modelReferenceIssues } from './check-references.ts';
import { formatPath, type Issue, type Path } from './problems.ts';

type Item = Record<PropertyKey, unknown>;

interface Exported {
  readonly workspaces: readonly unknown[];
}

/** Changes the file. Returns a line for each part that it leaves out. */
export function leaveOutMissing(file: Exported, catalogue: CatalogueDocument | undefined): string[] {
  const known = { providers: catalogue?.providers ?? [], models: catalogue?.models ?? [] };
  const guardrails = new Set(catalogue?.guardrails?.map(({ id }) => id));
  const issues = [...modelReferenceIssues(file, known), ...guardrailReferenceIssues(file, guardrails)];
  if (issues.length === 0) return [];
  const parts = [...new Map(issues.map((issue) => [formatPath(partOf(issue.path)), issue])).values()];
  const workspaces = parts.filter((issue) => isWorkspace(partOf(issue.path)));
  // From the last on, so that the places of the others stay: those in workspaces once no workspace goes.
  const first = (workspaces.length > 0 ? workspaces : parts).toSorted((a, b) => lastStep(b) - lastStep(a));
  const lines = first.map((issue) => leaveOut(file, issue));
  return [...lines, ...leaveOutMissing(file, catalogue)].sort();
}

/**
 * Steps to what is left out: a name in the list of models, a key, a connection, a revision. A key, and a workspace whose
 * guardrail is gone, go whole, since elsewhere they would be made without the restriction.
 */
const stepsByList: Readonly<Record<string, number>> = { guardrails: 2, models: 4, keys: 4, byok: 5, functions: 6 };
const partOf = (path: Path): Path => path.slice(0, stepsByList[String(path[2])]);
const isWorkspace = (part: Path): boolean => part.length === stepsByList.guardrails;
const lastStep = ({ path }: Issue): number => Number(partOf(path).at(-1)) || 0;

function leaveOut(file: Exported, { path, message }: Issue): string {
  const part = partOf(path);
  const [workspace, owner, holder] = [part.slice(0, 2), part.slice(0, 4), part.slice(0, -1)].map((to) =>
    itemAt(file, to),
  );
  const item = itemAt(file, part);
  const last = part.at(-1) ?? '';
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder?.[last];
  const isRevision = part.length === stepsByList.functions;
  if (isRevision && owner?.active === item?.id) delete owner?.active;
  const ofFunction = isRevision ? ` of function ${String(owner?.id)}` : '';
  const id = String(workspace?.id);
  const name = isWorkspace(part) ? `workspace ${id}` : `${nameOf(part, item)}${ofFunction} of ${id}`;
  return `${name} is left out, and stays as it is stored: ${message.split('; ')[0]}`;
}

function nameOf([, , list]: Path, item: Item | undefined): string {
  if (list === 'keys') return `key ${String(item?.name)}`;
  if (list === 'byok') return `byok connection to ${String(item?.provider)}`;
  return list === 'functions' ? `revision ${String(item?.id)}` : `${String(item)} in the list of models`;
}

const itemAt = (file: Exported, path: Path): Item | undefined =>
  path.reduce<unknown>((item, step) => (item as Item | undefined)?.[step], file) as Item | undefined;
