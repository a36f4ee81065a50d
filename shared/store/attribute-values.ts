// Between items of ours and the attribute values on the wire: bigint goes in and comes out exactly, undefined members
// are dropped, bytes stay bytes.
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from './store.ts';

export type AttributeMap = Record<string, AttributeValue>;

/** Throws on what cannot be stored: NaN, infinities, an unsafe integer that is no bigint, an instance of a class. */
export const toAttributes = (item: Item): AttributeMap => marshall(item, { removeUndefinedValues: true });

/** Integers beyond 2^53 become bigint, all other numbers number. */
export const fromAttributes = (attributes: AttributeMap | undefined): Item | undefined =>
  attributes === undefined ? undefined : unmarshall(attributes);
