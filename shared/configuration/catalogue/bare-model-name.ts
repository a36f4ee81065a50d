// Resolves bare model names, without the part before the slash, as clients that were made for one provider use them.

/**
 * Resolves a name: an exact id, or a name with a slash, is returned as it is; otherwise every id that ends in `/name`.
 * `isId` tests the whole catalogue; `among` has callable ids.
 */
export function resolveIds(
  name: string,
  isId: (name: string) => boolean,
  among: () => Iterable<string>,
): readonly string[] {
  if (name === '' || name.includes('/') || isId(name)) return [name];
  const ending = `/${name}`;
  const found = [...among()].filter((id) => id.endsWith(ending));
  return found.length === 0 ? [name] : found;
}

/**
 * Resolves a name in a configured list. A name that matches no id of the list is searched for in the whole catalogue.
 */
export function resolveListedIds(
  name: string,
  ids: ReadonlySet<string>,
  among: Iterable<string> | undefined,
): readonly string[] {
  const isId = (one: string) => ids.has(one);
  const matches = among === undefined ? [name] : resolveIds(name, isId, () => among);
  return matches.length > 1 || matches[0] !== name ? matches : resolveIds(name, isId, () => ids);
}
