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
