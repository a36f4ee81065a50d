// Fields of JSON as texts: an answer in its other delivery keeps each as it came.
import { findMember, type JsonText, rewriteMembers } from '../wire/index.ts';

/** An object as it came, with other texts as some of its fields; undefined leaves one out. */
export function withFields(
  json: JsonText,
  object: number,
  texts: Readonly<Record<string, string | undefined>>,
): string {
  const objectText = rewriteMembers(json, new Map(Object.keys(texts).map((name) => [name, undefined])), object);
  const pieces = [objectText.slice(1, -1)];
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) pieces.push(`"${name}":${text}`);
  return `{${pieces.filter((piece) => piece !== '').join(',')}}`;
}

/** The text of a field's value, as it came; undefined where there is none. */
export const fieldText = (json: JsonText, name: string, object = 0): string | undefined => {
  const value = findMember(json, name, object);
  return value === undefined ? undefined : json.slice(value);
};

/** Returns the named fields that are there, as they came. */
export const fieldsAsCame = (json: JsonText, names: readonly string[]): readonly string[] =>
  names.flatMap((name) => {
    const text = fieldText(json, name);
    return text === undefined ? [] : [`"${name}":${text}`];
  });

/** The values in a list; none where there is no list. */
export const itemsOf = (json: JsonText, list: number | undefined): readonly number[] =>
  list !== undefined && json.isArray(list) ? [...json.inside(list)] : [];

/** The text of a string; undefined where the value is none. */
export const stringAt = (json: JsonText, value: number | undefined): string | undefined =>
  value !== undefined && json.isString(value) ? (JSON.parse(json.slice(value)) as string) : undefined;
