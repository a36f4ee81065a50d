// Converts items to DynamoDB's JSON and back, in one pass. The SDK's conversions name the type of each value by its
// constructor.
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Item } from '../store/index.ts';

export type ItemAttributes = Record<string, AttributeValue>;

/** A copy of bytes that is base64 in JSON. */
class JsonBytes extends Uint8Array {
  toJSON(): string {
    return Buffer.from(this.buffer, this.byteOffset, this.byteLength).toString('base64');
  }
}

/** Omits undefined attributes. */
export function attributesOf(item: Readonly<Record<string, unknown>>): ItemAttributes {
  const attributes: ItemAttributes = {};
  for (const name in item) {
    const value = item[name];
    if (value !== undefined) attributes[name] = attributeOf(value);
  }
  return attributes;
}

/**
 * Throws for a value that no item has: a function, an instance of a class, a number that is not exact. DynamoDB refuses
 * a set without elements.
 */
export function attributeOf(value: unknown): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'bigint':
      return { N: value.toString() };
    case 'number':
      if (Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return { N: String(value) };
      break;
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return attributeOfObject(value);
  }
  throw new TypeError(`a ${typeof value} that no item can have`);
}

function attributeOfObject(value: object | null): AttributeValue {
  if (value === null) return { NULL: true };
  if (value instanceof Set) return { SS: [...(value as ReadonlySet<string>)] };
  if (value instanceof Uint8Array) return { B: new JsonBytes(value) };
  if (Array.isArray(value)) return { L: value.filter((each) => each !== undefined).map(attributeOf) };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw new TypeError('an instance of a class in an item');
  return { M: attributesOf(value as Record<string, unknown>) };
}

export function itemOf(attributes: ItemAttributes): Item;
export function itemOf(attributes: ItemAttributes | undefined): Item | undefined;
export function itemOf(attributes: ItemAttributes | undefined): Item | undefined {
  if (attributes === undefined) return undefined;
  const item: Item = {};
  for (const name in attributes) item[name] = nativeValueOf(attributes[name] as AttributeValue);
  return item;
}

function nativeValueOf(attribute: AttributeValue): unknown {
  if (attribute.S !== undefined) return attribute.S;
  if (attribute.N !== undefined) return numberOf(attribute.N);
  if (attribute.BOOL !== undefined) return attribute.BOOL;
  if (attribute.NULL !== undefined) return null;
  if (attribute.M !== undefined) return itemOf(attribute.M);
  if (attribute.L !== undefined) return attribute.L.map(nativeValueOf);
  if (attribute.SS !== undefined) return new Set(attribute.SS);
  if (attribute.B !== undefined) return bytesOf(attribute.B);
  throw new TypeError(`an attribute of a type that no item has: ${Object.keys(attribute)}`);
}

/** Returns the number; a bigint beyond 2^53. */
function numberOf(text: string): number | bigint {
  const number = Number(text);
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : BigInt(text);
}

/** Base64 in an answer that was read as plain JSON. */
const bytesOf = (bytes: Uint8Array | string): Uint8Array =>
  typeof bytes === 'string' ? new Uint8Array(Buffer.from(bytes, 'base64')) : bytes;
