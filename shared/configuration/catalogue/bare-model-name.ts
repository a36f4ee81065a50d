// Bare model names, without the part before the slash, as clients use them that were made for one provider.

/**
 * The ids for a name: itself where it is an id or no bare name, else those that end in it after a slash. `isId`: of the
 * whole catalogue; `among`: callable ones.
 */
export function idsMeantBy(
  name: string,
  isId: (name: string) => boolean,
  among: () => Iterable<string>,
): readonly string[] {
  if (name === '' || name.includes('/') || isId(name)) return [name];
  const ending = `/${name}`;
  const found = [...among()].filter((id) => id.endsWith(ending));
  return found.length === 0 ? [name] : found;
}

/** The same for a configured list: a name that matches none of those is searched for in the whole catalogue. */
export function idsWritten(
  name: string,
  ids: ReadonlySet<string>,
  among: Iterable<string> | undefined,
): readonly string[] {
  const isId = (one: string) => ids.has(one);
  const matches = among === undefined ? [name] : idsMeantBy(name, isId, () => among);
  return matches.length > 1 || matches[0] !== name ? matches : idsMeantBy(name, isId, () => ids);
}
