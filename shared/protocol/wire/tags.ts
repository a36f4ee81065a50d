// Defines tags, which describe the purpose of a call. Tags are pairs of a name and a value, in a header, an option or a
// log line as `feature=rerank,team=search`.

export type Tags = Readonly<Record<string, string>>;

export const tagNameShape = /^[a-z][a-z0-9_.-]{0,31}$/;
/** Matches visible ASCII without the separators of pairs. */
export const tagValueShape = /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,64}$/;
/** Maximum number of tags of a request, and of a key. */
export const tagsMax = 8;

/** The format in words, for messages. */
export const tagsForm =
  'pairs such as team=search,feature=rerank: names of lower-case letters, digits, _, . and -, which begin with a letter, ' +
  'at most 32 characters, each once; values of 1 to 64 visible ASCII characters without , and =';

/** Parses tags; spaces may follow a comma. Returns undefined if a pair is malformed, or a name occurs twice. */
export function readTags(text: string): Tags | undefined {
  const pairs = text.split(/, */).map((pair): [string, string] => {
    const end = pair.indexOf('=');
    return [pair.slice(0, Math.max(0, end)), pair.slice(end + 1)];
  });
  const areWellFormed = pairs.every(([name, value]) => tagNameShape.test(name) && tagValueShape.test(value));
  if (!areWellFormed || new Set(pairs.map(([name]) => name)).size < pairs.length) return undefined;
  return Object.fromEntries(pairs);
}

/** Writes tags sorted by their names. */
export const formatTags = (tags: Tags): string =>
  Object.keys(tags)
    .sort()
    .map((name) => `${name}=${tags[name]}`)
    .join(',');

/** Returns undefined if no tag has this name. */
export const tagOf = (tags: Tags | undefined, name: string): string | undefined =>
  tags !== undefined && Object.hasOwn(tags, name) ? tags[name] : undefined;
