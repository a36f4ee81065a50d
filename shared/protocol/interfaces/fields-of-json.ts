// Reads fields of JSON as text, because an answer in its other delivery preserves each field as it came.
import { type EventText, findMember, type JsonText, rewriteMembers } from '../wire/index.ts';

/** Returns an object as it came, with other texts as some of its fields; undefined removes a field. */
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

/** Returns the text of a field's value, as it came; undefined if the field is absent. */
export const fieldText = (json: JsonText, name: string, object = 0): string | undefined => {
  const value = findMember(json, name, object);
  return value === undefined ? undefined : json.slice(value);
};

/** Returns those of the named fields that are present, as they came. */
export const fieldsAsCame = (json: JsonText, names: readonly string[]): readonly string[] =>
  Object.entries(slicesOf(json, names)).map(([name, { text }]) => `"${name}":${text}`);

/** JSON that keeps its text, as a value inside an object that the gateway writes. */
export class JsonSlice {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The present fields of an object, as they came. */
export const slicesOf = (json: JsonText, names: readonly string[], object = 0): Readonly<Record<string, JsonSlice>> => {
  const slices: Record<string, JsonSlice> = {};
  for (const name of names) {
    const text = fieldText(json, name, object);
    if (text !== undefined) slices[name] = new JsonSlice(text);
  }
  return slices;
};

/** Returns the JSON of an object with slices in it. It recurses only within what the gateway writes itself. */
export function jsonWithSlices(value: unknown): string {
  if (value instanceof JsonSlice) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonWithSlices).join(',')}]`;
  const fields: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined) fields.push(`${JSON.stringify(name)}:${jsonWithSlices(field)}`);
  }
  return `{${fields.join(',')}}`;
}

/** The events that a writer has emitted since the last call of `take`, so that a long answer is not in memory twice. */
export function openWrittenEvents() {
  let events: EventText[] = [];
  return {
    add(name: string | undefined, event: object): void {
      const text = jsonWithSlices(event);
      events.push(name === undefined ? { text } : { name, text });
    },
    take(): EventText[] {
      const batch = events;
      events = [];
      return batch;
    },
  };
}

/** Returns the values in a list; none if the list is absent. */
export const itemsOf = (json: JsonText, list: number | undefined): readonly number[] =>
  list !== undefined && json.isArray(list) ? [...json.inside(list)] : [];

/** Returns the text of a string; undefined for any other value. */
export const stringAt = (json: JsonText, value: number | undefined): string | undefined =>
  value !== undefined && json.isString(value) ? (JSON.parse(json.slice(value)) as string) : undefined;
