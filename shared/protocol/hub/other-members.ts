// Finds the fields of a request that its call does not carry. A client may send a hundred thousand such fields, and no
// target gets them.
import { isJsonObject } from '../wire/index.ts';
import type { OptionalMember, OptionalName } from './hub-call.ts';

/** Number of dropped paths that are reported, the same as a record keeps. */
export const reportedPathsMax = 32;

export interface MembersRead {
  /** Fields that the call carries, fields that the gateway reads itself, and fields that the call needs. */
  readonly read: ReadonlySet<string>;
  /** Fields that some targets can express. */
  readonly names?: ReadonlyMap<string, OptionalName>;
  /** True if a value has an effect. */
  readonly isSent: (value: unknown) => boolean;
  /** Path of the object in the body, with its dot. */
  readonly path?: string;
}

export const isListedMember = ({ read, names }: MembersRead, member: string): boolean =>
  read.has(member) || names?.has(member) === true;

/** Returns the fields in their sequence, with at most `reportedPathsMax` of the fields that no target supports. */
export function otherMembers(object: unknown, { read, names, isSent, path = '' }: MembersRead): OptionalMember[] {
  const others: OptionalMember[] = [];
  let unnamed = 0;
  // Reading the entries of a large object takes three times as long as reading its keys.
  for (const member of isJsonObject(object) ? Object.keys(object) : []) {
    const name = names?.get(member) ?? 'other';
    const isTold = name !== 'other' || unnamed < reportedPathsMax;
    if (!isTold || read.has(member)) continue;
    const value = (object as Record<string, unknown>)[member];
    if (!isSent(value)) continue;
    if (name === 'other') unnamed += 1;
    others.push({ name, member: `${path}${member}`, value });
  }
  return others;
}
