// Translation of the fields inside the messages, parts and tools of a request to a provider of another format.
import { isJsonObject, type JsonObject } from '../wire/index.ts';
import type { OptionalMember, OptionalName } from './hub-call.ts';
import { otherMembers, reportedPathsMax } from './other-members.ts';

export interface FieldUses {
  /** Fields that the call carries, that make the planner skip the candidate, or that mean nothing to another model. */
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

/** Returns the fields of an object that are left out. `path`: the path of the object, with its dot. */
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
 * Translation of an object in a list of messages or items: the uses of its own fields (under '') and, by name, those of
 * the objects in its fields; or the whole object is dropped, or becomes text.
 */
export type ObjectUse = Readonly<Record<string, FieldUses>> | 'left_out' | 'as_text';

/** Fields that contain lists of parts. */
const partLists = ['content', 'output', 'tool_calls'];

/** Number of objects that are checked within a few milliseconds. */
const lookedIntoAtOnce = 1_024;

/**
 * Returns fields inside messages or items, and inside their parts, that the call does not carry, at most as many as are
 * reported. `nextStep` is awaited after a number of objects.
 */
export async function fieldsInside(
  path: string,
  list: unknown,
  useOf: (object: JsonObject) => ObjectUse,
  nextStep: () => Promise<void>,
): Promise<OptionalMember[]> {
  const unusedFields: OptionalMember[] = [];
  let lookedInto = 0;
  async function lookInto(place: string, listed: readonly unknown[]): Promise<void> {
    for (const [at, one] of listed.entries()) {
      if (unusedFields.length >= reportedPathsMax) return;
      if (!isJsonObject(one)) continue;
      lookedInto += 1;
      if (lookedInto % lookedIntoAtOnce === 0) await nextStep();
      const use = useOf(one);
      if (use === 'as_text') continue;
      const path = `${place}[${at}]`;
      if (use === 'left_out') {
        unusedFields.push({ name: 'other', member: path, value: true });
        continue;
      }
      for (const [name, uses] of Object.entries(use)) {
        const [object, inner] = name === '' ? [one, `${path}.`] : [one[name], `${path}.${name}.`];
        unusedFields.push(...leftOutFields(object, uses, inner));
      }
      for (const name of partLists) {
        const parts = one[name];
        if (Array.isArray(parts)) await lookInto(`${path}.${name}`, parts);
      }
    }
  }
  if (Array.isArray(list)) await lookInto(path, list);
  return unusedFields;
}
