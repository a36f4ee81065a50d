// Walks the values of a file with their places. The checks across sections walk these values, not the parsed result, so
// that one wrong field never hides faults elsewhere.
import { resolveListedIds } from '../catalogue/index.ts';
import { looksLikeCredential, type Path, quote, suggest } from './problems.ts';
import { isMapping } from './yaml-source.ts';

export interface Node {
  readonly value: unknown;
  readonly path: Path;
}

export type Report = (at: Node, message: string) => void;

/** Returns a field of a mapping; a node without a value if there is none. */
export const member = (node: Node, name: string): Node => ({
  value: isMapping(node.value) && Object.hasOwn(node.value, name) ? node.value[name] : undefined,
  path: [...node.path, name],
});

/** Returns the entries of a list; none if there is no list. */
export const entries = (node: Node): Node[] =>
  Array.isArray(node.value)
    ? node.value.map((value: unknown, index): Node => ({ value, path: [...node.path, index] }))
    : [];

export const textOf = (node: Node): string | undefined => (typeof node.value === 'string' ? node.value : undefined);

/** Returns the values at `name` in every item of a list. */
export const namesIn = (list: Node, name: string): Set<string> =>
  new Set(entries(list).flatMap((entry) => textOf(member(entry, name)) ?? []));

/** Reports every entry of a list whose `name` an earlier entry has. */
export function checkUnique(lists: readonly Node[], name: string, report: Report): void {
  const seen = new Set<string>();
  for (const at of lists.flatMap(entries).map((entry) => member(entry, name))) {
    const written = textOf(at);
    if (written === undefined) continue;
    const entryName = name === 'key' || looksLikeCredential(written) ? 'it' : quote(written);
    if (seen.has(written)) report(at, `${entryName} is already taken by an earlier entry`);
    seen.add(written);
  }
}

/**
 * The known models. `own` are the models of the workspace, among which a bare name is searched first; undefined if the
 * workspace has all models.
 */
export interface KnownModels {
  readonly all: ReadonlySet<string>;
  readonly workspaceModels: readonly string[] | undefined;
}

/** Reports a name of no model, or of more than one. `models` is undefined while the models are unknown. */
export function checkModel(at: Node, models: KnownModels | undefined, report: Report): void {
  const written = textOf(at);
  if (written === undefined || models === undefined) return;
  const known = models.all;
  const meantIds = resolveListedIds(written, known, models.workspaceModels);
  if (meantIds.length > 1) report(at, `${quote(written)} means several models: ${meantIds.map(quote).join(', ')}`);
  else if (meantIds[0] === written) checkKnown(at, known, 'model', 'models', report);
}

/**
 * Reports a written name that is not among the known names of `place`. `known` is undefined while the names are
 * unknown.
 */
export function checkKnown(
  at: Node,
  known: ReadonlySet<string> | undefined,
  what: string,
  place: string,
  report: Report,
): void {
  const written = textOf(at);
  if (written === undefined || known === undefined || known.has(written)) return;
  const hint = known.size === 0 ? 'there is none' : suggest(written, [...known]);
  report(at, `there is no ${what} ${quote(written)} in ${place}; ${hint}`);
}
