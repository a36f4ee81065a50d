// Finds the changes of a file since the version that its writer had read. Pure. Unchanged fields of workspaces are
// omitted and so keep their stored values. So fields that the writer only repeated do not undo other operators'
// changes.
import type { JsonObject } from '../../protocol/wire/index.ts';
import type { GatewayFile, WorkspaceInFile } from './gateway-file.ts';
import type { Path } from './problems.ts';
import { isMapping } from './yaml-source.ts';

/** Returns the changes. Catalogue sections are described completely, and stay. */
export function withoutUnchanged({ access, workspaces, ...catalogue }: GatewayFile, base: GatewayFile): GatewayFile {
  const before = new Map(base.workspaces.map((workspace) => [workspace.id, workspace]));
  return {
    ...catalogue,
    workspaces: workspaces.map((workspace) => {
      const former = before.get(workspace.id);
      return former === undefined ? workspace : changedWorkspace(workspace, former);
    }),
    access: isSame(access, base.access) ? undefined : access,
  };
}

function changedWorkspace(workspace: WorkspaceInFile, former: WorkspaceInFile): WorkspaceInFile {
  const { id, keys, byok, functions, presets, ...settings } = workspace;
  const { keys: formerKeys, byok: formerByok, functions: formerFunctions, presets: formerPresets, ...before } = former;
  const [formerById, writtenById] = [firstBy('id', formerFunctions), firstBy('id', functions)];
  const connections = changedEntries(byok.connections, formerByok.connections, ['provider']);
  return {
    ...changedMembers(settings, before),
    id,
    ...(isSame(presets, formerPresets) ? {} : { presets }),
    keys: changedEntries(keys, formerKeys, ['name']),
    byok: { connections },
    functions: changedEntries(functions, formerFunctions, ['id', 'kind']).map((one) => {
      const known = new Set(formerById.get(one.id)?.revisions.map(asWritten));
      const revisions = writtenById.get(one.id)?.revisions ?? [];
      return { ...one, revisions: revisions.filter((revision) => !known.has(asWritten(revision))) };
    }) as WorkspaceInFile['functions'],
  };
}

/** Returns the differences of each item, with its naming fields; items without differences are omitted. */
function changedEntries<Entry extends object>(
  entries: readonly Entry[],
  formerEntries: readonly Entry[],
  naming: readonly (keyof Entry & string)[],
): Entry[] {
  const [nameMember = '' as keyof Entry & string] = naming;
  const formerByName = firstBy(nameMember, formerEntries);
  return entries.flatMap((entry) => {
    const former = formerByName.get(entry[nameMember]);
    if (former === undefined) return [entry];
    const names = Object.fromEntries(naming.map((name) => [name, entry[name]]));
    const changes = changedMembers(entry as JsonObject, former as JsonObject);
    return Object.keys(changes).every((name) => name in names) ? [] : [{ ...changes, ...names } as Entry];
  });
}

/** Returns the entries by name; of several with one name the first. */
const firstBy = <Entry extends object, Name extends keyof Entry>(name: Name, entries: readonly Entry[]) =>
  new Map(entries.toReversed().map((entry) => [entry[name], entry]));

function changedMembers(written: JsonObject, former: JsonObject): JsonObject {
  const entries = Object.entries(written).flatMap(([name, value]): [string, unknown][] => {
    const before = former[name];
    if (isSame(value, before)) return [];
    return isMapping(value) && isMapping(before) ? [[name, changedMembers(value, before)]] : [[name, value]];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the path in the written file for a path in the remaining part, because an item of a list is found again by
 * its name.
 */
export function writtenPlace(path: Path, rest: unknown, written: unknown): Path {
  const [step, ...below] = path;
  if (step === undefined) return [];
  const inner = childOf(rest, step);
  const at = Array.isArray(written) ? placeIn(written, step, inner) : step;
  return [at, ...writtenPlace(below, inner, childOf(written, at))];
}

const childOf = (value: unknown, step: PropertyKey): unknown =>
  (value as Record<PropertyKey, unknown> | undefined)?.[step];

function placeIn(written: readonly unknown[], step: PropertyKey, item: unknown): PropertyKey {
  const name = nameOf(item);
  const index = name === undefined ? -1 : written.findIndex((one) => nameOf(one) === name);
  return index === -1 ? step : index;
}

const nameOf = (item: unknown): unknown => (isMapping(item) ? (item.id ?? item.name ?? item.provider) : undefined);

/** Returns the text with the order of fields, which counts in texts of functions. */
const asWritten = (value: unknown): string | undefined => JSON.stringify(value);
const isSame = (left: unknown, right: unknown): boolean => asWritten(left) === asWritten(right);
