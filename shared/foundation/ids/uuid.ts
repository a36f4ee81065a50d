// UUIDs of version 7 (RFC 9562): the time comes first, so later ones sort after earlier ones.
//
//   48 bits milliseconds since the epoch · 4 bits version · 12 random bits · 2 bits variant · 62 random bits
import type { Randomness } from './randomness.ts';

const uuidBytes = 16;
const timeBytes = 6;

const uuidv7Shape = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** When it was made, in milliseconds. Undefined: a UUID of another version, or none. */
export function timeOfUuidv7(id: string): number | undefined {
  const [, high, low] = uuidv7Shape.exec(id) ?? [];
  return high === undefined ? undefined : Number.parseInt(`${high}${low}`, 16);
}

/** In lower case. Ids of the same millisecond are in no order. */
export function uuidv7(randomness: Pick<Randomness, 'bytes'>, nowMs: number): string {
  const id = Buffer.from(randomness.bytes(uuidBytes));
  id.writeUIntBE(Math.floor(nowMs), 0, timeBytes);
  id.writeUInt8(0x70 | (id.readUInt8(6) & 0x0f), 6);
  id.writeUInt8(0x80 | (id.readUInt8(8) & 0x3f), 8);
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
