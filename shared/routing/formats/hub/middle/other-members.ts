// Members of a request that its call does not carry. A client may send a hundred thousand of them, and no target gets one.
import { isJsonObject, type JsonObject } from '../../../../protocol/wire/index.ts';
import type { OptionalMember, OptionalName } from './hub-call.ts';

/** As many paths of what was left out are told as a record keeps. */
export const toldPathsMax = 32;

export interface MembersRead {
  /** Members that the call carries, that the gateway reads itself, or without which it is refused. */
  readonly read: ReadonlySet<string>;
  /** Members that some targets have a word for. */
  readonly names?: ReadonlyMap<string, OptionalName>;
  /** Whether a value asks for something. */
  readonly isSent: (value: unknown) => boolean;
  /** Of the object in the body, with its dot. */
  readonly path?: string;
}

export const isListedMember = ({ read, names }: MembersRead, member: string): boolean =>
  read.has(member) || names?.has(member) === true;

/** In their order; of those that no target has a word for no more than are told. */
export function otherMembers(object: unknown, { read, names, isSent, path = '' }: MembersRead): OptionalMember[] {
  const others: OptionalMember[] = [];
  let unnamed = 0;
  // Entries of a large object take three times as long as its keys.
  for (const member of isJsonObject(object) ? Object.keys(object) : []) {
    const name = names?.get(member) ?? 'other';
    const isTold = name !== 'other' || unnamed < toldPathsMax;
    if (!isTold || read.has(member)) continue;
    const value = (object as Record<string, unknown>)[member];
    if (!isSent(value)) continue;
    if (name === 'other') unnamed += 1;
    others.push({ name, member: `${path}${member}`, value });
  }
  return others;
}

/**
 * What becomes of an object in a list of messages or items: fields that the call carries (under '' its own, under a name those of the
 * object there), nothing that another model is told, or text as a whole.
 */
export type FieldsUse = Readonly<Record<string, ReadonlySet<string>>> | 'left_out' | 'as_text';

/** Where parts are listed. */
const partLists = ['content', 'output'];

/** Fields inside messages or items, and inside their parts, that the call does not carry: no more than are told. */
export function fieldsInside(path: string, list: unknown, useOf: (object: JsonObject) => FieldsUse): OptionalMember[] {
  const told: OptionalMember[] = [];
  const lookInto = (place: string, listed: unknown): void => {
    for (const [at, one] of (Array.isArray(listed) ? listed : []).entries()) {
      if (told.length >= toldPathsMax) return;
      if (!isJsonObject(one)) continue;
      const use = useOf(one);
      if (use === 'as_text') continue;
      const own = `${place}[${at}]`;
      if (use === 'left_out') {
        told.push({ name: 'other', member: own, value: true });
        continue;
      }
      for (const [name, read] of Object.entries(use)) {
        const [object, inner] = name === '' ? [one, `${own}.`] : [one[name], `${own}.${name}.`];
        told.push(...otherMembers(object, { read, isSent: asksForSomething, path: inner }));
      }
      for (const name of partLists) lookInto(`${own}.${name}`, one[name]);
    }
  };
  lookInto(path, list);
  return told;
}

/** What every model does anyway. */
const defaults: ReadonlySet<unknown> = new Set([null, undefined, false, 'auto', 'never']);

const asksForSomething = (value: unknown): boolean =>
  !defaults.has(value) &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isJsonObject(value) && value.enabled === false);

/** Messages, or items, that are read in a few milliseconds. */
const readAtOnce = 1_024;

/** Those of a list that are objects, with a step behind so many. */
export async function forEachObject(
  list: unknown,
  nextStep: () => Promise<void>,
  read: (item: JsonObject, at: number) => void,
): Promise<void> {
  if (!Array.isArray(list)) return;
  for (const [at, item] of list.entries()) {
    if (isJsonObject(item)) read(item, at);
    if (at % readAtOnce === readAtOnce - 1) await nextStep();
  }
}
