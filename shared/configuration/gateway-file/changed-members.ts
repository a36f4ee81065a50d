// Finds the differences between two documents, field by field. Pure. List items are matched by their names, not by
// their positions, so that an added model is one difference, and not a list of renamed models.

import { canonicalJson } from '../../foundation/ids/index.ts';
import type { JsonObject } from '../../protocol/wire/index.ts';
import { formatPath, type Path } from './problems.ts';
import { isMapping } from './yaml-source.ts';

export interface MemberChange {
  /** Path such as `models[acme/large-1].providers[acme].input_price_per_million`. */
  readonly path: string;
  /** Former value; absent for a new field. */
  readonly from?: unknown;
  /** New value; absent if the field was removed. */
  readonly to?: unknown;
}

/** Fields by which the lists of a gateway file name their items. */
const nameMembers = ['id', 'provider', 'slug', 'version'] as const;

/** Returns the changes, none if both are equal. An undefined field counts as absent. */
export const changedMembers = (former: unknown, next: unknown): MemberChange[] => compare(former, next, '');

function compare(former: unknown, next: unknown, path: string): MemberChange[] {
  if (former === undefined && next === undefined) return [];
  if (former === undefined) return [{ path, to: next }];
  if (next === undefined) return [{ path, from: former }];
  if (canonicalJson(former) === canonicalJson(next)) return [];
  if (isMapping(former) && isMapping(next)) return compareMappings(former, next, path);
  return compareNamed(former, next, path) ?? [{ path, from: former, to: next }];
}

const compareMappings = (former: JsonObject, next: JsonObject, path: string): MemberChange[] =>
  namesOfBoth(Object.keys(former), Object.keys(next)).flatMap((name) =>
    compare(former[name], next[name], joinPath(path, name)),
  );

/** Compares lists of named items; returns undefined for other values. */
function compareNamed(former: unknown, next: unknown, path: string): MemberChange[] | undefined {
  for (const member of nameMembers) {
    const [before, after] = [byName(former, member), byName(next, member)];
    if (before === undefined || after === undefined) continue;
    const names = namesOfBoth([...before.keys()], [...after.keys()]);
    const changes = names.flatMap((name) => compare(before.get(name), after.get(name), `${path}[${name}]`));
    return [...changes, ...compareOrder([...before.keys()], [...after.keys()], path)];
  }
  return undefined;
}

function byName(list: unknown, member: string): ReadonlyMap<string, JsonObject> | undefined {
  if (!Array.isArray(list)) return undefined;
  const entriesByName = new Map<string, JsonObject>();
  for (const entry of list as unknown[]) {
    if (!isMapping(entry) || typeof entry[member] !== 'string' || entriesByName.has(entry[member])) return undefined;
    entriesByName.set(entry[member], entry);
  }
  return entriesByName;
}

/**
 * Compares the sequence. The sequence counts, because among equal prices the provider that is listed first is called
 * first.
 */
function compareOrder(before: readonly string[], after: readonly string[], path: string): MemberChange[] {
  const commonNames = before.filter((name) => after.includes(name));
  const reordered = after.filter((name) => before.includes(name));
  const isSame = commonNames.every((name, index) => name === reordered[index]);
  return isSame ? [] : [{ path: `${path} (order)`, from: commonNames, to: reordered }];
}

const namesOfBoth = (before: readonly string[], after: readonly string[]): string[] => [
  ...new Set([...before, ...after]),
];

const joinPath = (path: string, name: string): string => {
  const step: Path = [name];
  const text = formatPath(step);
  return path === '' || text.startsWith('[') ? `${path}${text}` : `${path}.${text}`;
};
