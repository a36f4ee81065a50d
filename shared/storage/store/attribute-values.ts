// Between items of ours and the attribute values on the wire: bigint goes in and comes out exactly, undefined members
// are dropped, bytes travel as base64.
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from './store.ts';

/** One value as DynamoDB writes it, such as `{S: 'text'}` or `{M: {…}}`. */
export type AttributeValue = Readonly<Record<string, unknown>>;
export type AttributeMap = Readonly<Record<string, AttributeValue>>;

/** Throws on what cannot be stored: NaN, infinities, an unsafe integer that is no bigint, an instance of a class. */
export const toAttributes = (item: Item): AttributeMap =>
  mapBytes(marshall(item, { removeUndefinedValues: true }) as unknown as AttributeMap, toBase64);

/** Integers beyond 2^53 become bigint, all other numbers number. */
export const fromAttributes = (attributes: AttributeMap | undefined): Item | undefined =>
  attributes === undefined ? undefined : unmarshall(mapBytes(attributes, fromBase64) as unknown as SdkAttributes);

type SdkAttributes = ReturnType<typeof marshall>;
type Convert = (bytes: unknown) => unknown;

const toBase64: Convert = (bytes) => {
  const { buffer, byteOffset, byteLength } = bytes as Uint8Array;
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
};
const fromBase64: Convert = (text) => {
  const { buffer, byteOffset, byteLength } = Buffer.from(String(text), 'base64');
  return new Uint8Array(buffer, byteOffset, byteLength);
};

const mapBytes = (attributes: AttributeMap, convert: Convert): AttributeMap => {
  const mapped: Record<string, AttributeValue> = {};
  for (const name in attributes) mapped[name] = mapValue(attributes[name] as AttributeValue, convert);
  return mapped;
};

/** Sets of bytes are not written by us and not read. */
function mapValue(value: AttributeValue, convert: Convert): AttributeValue {
  if (value.B !== undefined) return { B: convert(value.B) };
  if (value.M !== undefined) return { M: mapBytes(value.M as AttributeMap, convert) };
  if (value.L !== undefined) return { L: (value.L as AttributeValue[]).map((member) => mapValue(member, convert)) };
  return value;
}
