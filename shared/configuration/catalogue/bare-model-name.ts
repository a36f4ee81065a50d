// A model's name without what stands before the slash, as clients know it that were made for one provider.

/**
 * The ids that a name means: itself where it is an id or no bare name, else those that end in it behind a slash.
 * `isId`: of the whole catalogue; `among`: those that may be called.
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

/** The same in a list that is written down: one that means none of those is looked for in the whole catalogue. */
export function idsWritten(
  name: string,
  ids: ReadonlySet<string>,
  among: Iterable<string> | undefined,
): readonly string[] {
  const isId = (one: string) => ids.has(one);
  const own = among === undefined ? [name] : idsMeantBy(name, isId, () => among);
  return own.length > 1 || own[0] !== name ? own : idsMeantBy(name, isId, () => ids);
}
