// Translates the fields inside the messages, parts and tools of a request for a provider of another format.
import { isJsonObject, type JsonObject } from '../wire/index.ts';
import type { OptionalMember, OptionalName } from './hub-call.ts';
import { otherMembers, reportedPathsMax } from './other-members.ts';

export interface FieldUses {
  /**
   * Fields that the call carries, fields that make the planner skip the candidate, and fields that mean nothing to
   * another model.
   */
  readonly carried: ReadonlySet<string>;
  /** Fields that no target can express. An unknown field is reported in the same way. */
  readonly leftOut: ReadonlySet<string>;
  /** Fields that some targets can express. */
  readonly named: ReadonlyMap<string, OptionalName>;
}

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(' '));

export const fieldUses = (
  carried: string,
  leftOut = '',
  named: readonly (readonly [string, OptionalName])[] = [],
): FieldUses => ({ carried: namesIn(carried), leftOut: namesIn(leftOut), named: new Map(named) });

export const isListedField = (uses: FieldUses | undefined, field: string): boolean =>
  uses !== undefined && (uses.carried.has(field) || uses.leftOut.has(field) || uses.named.has(field));

/** Returns the fields of an object that are left out. `path` is the path of the object, with its dot. */
export const leftOutFields = (object: unknown, { carried, named }: FieldUses, path: string): OptionalMember[] =>
  otherMembers(object, { read: carried, names: named, isSent: asksForSomething, path });

/** Values that every model assumes anyway, and the usual callers of tools. */
const usualValues: ReadonlySet<unknown> = new Set([null, undefined, false, '', 'auto', 'never', 'direct']);

function asksForSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(asksForSomething);
  if (isJsonObject(value)) return value.enabled !== false && !usualValues.has(value.type ?? 'other');
  return !usualValues.has(value);
}

/**
 * Translation of an object in a list of messages or items. The value has the uses of the object's own fields (under '')
 * and, by name, the uses of fields in the objects in its fields; or the whole object is dropped, or becomes text.
 */
export type ObjectUse = Readonly<Record<string, FieldUses>> | 'left_out' | 'as_text';

/** Fields that contain lists of parts. */
const partLists = ['content', 'output', 'tool_calls'];

export interface FieldsInside {
  /** At most as many as are reported. */
  readonly found: readonly OptionalMember[];
  /** Looks into an object at this place of a list, and into its parts. */
  readonly add: (object: JsonObject, at: number, list: () => string) => void;
  readonly addList: (objects: unknown, list: () => string) => void;
}

/** Collects fields inside messages or items, and inside their parts, that the call does not carry. */
export function collectFieldsInside(useOf: (object: JsonObject) => ObjectUse): FieldsInside {
  const found: OptionalMember[] = [];
  function add(object: JsonObject, at: number, list: () => string): void {
    if (found.length >= reportedPathsMax) return;
    const use = useOf(object);
    if (use === 'as_text') return;
    if (use === 'left_out') {
      found.push({ name: 'other', member: `${list()}[${at}]`, value: true });
      return;
    }
    for (const name in use) {
      const uses = use[name] as FieldUses;
      const fields = name === '' ? object : object[name];
      // Paths are made when a field is found, because there may be a hundred thousand objects.
      if (!hasOtherFields(fields, uses)) continue;
      found.push(...leftOutFields(fields, uses, `${list()}[${at}]${name === '' ? '' : `.${name}`}.`));
    }
    for (const name of partLists)
      if (Array.isArray(object[name])) addList(object[name], () => `${list()}[${at}].${name}`);
  }
  function addList(objects: unknown, list: () => string): void {
    if (!Array.isArray(objects)) return;
    for (let at = 0; at < objects.length; at += 1) {
      const object: unknown = objects[at];
      if (isJsonObject(object)) add(object, at, list);
    }
  }
  return { found, add, addList };
}

function hasOtherFields(object: unknown, { carried }: FieldUses): boolean {
  if (!isJsonObject(object)) return false;
  for (const name in object) if (!carried.has(name)) return true;
  return false;
}
