// Makes UUIDs of version 7 (RFC 9562). The time comes first, so later UUIDs sort after earlier UUIDs.
//
//   48 bits milliseconds since the epoch · 4 bits version · 12 random bits · 2 bits variant · 62 random bits
import { randomBytes, randomUUID } from 'node:crypto';

// The only source of randomness. Everything else gets a Randomness as a parameter.

export interface Randomness {
  /** Returns a random UUID, version 4. */
  uuid(): string;
  bytes(length: number): Buffer;
  /** Returns a number of at least 0 and below 1, for jitter and shard choice, never for secrets. */
  fraction(): number;
}

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  bytes: (length) => randomBytes(length),
  fraction: () => Math.random(),
};

/** Hex digits of 48 bits. */
const timeDigits = 12;
/**
 * Index in a UUID of version 4 after its version digit; the variant and random digits from there are valid in version
 * 7 too.
 */
const randomFrom = 15;

const uuidv7Shape = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns the time in milliseconds at which the id was made, or undefined for another version or no UUID. */
export function timeOfUuidv7(id: string): number | undefined {
  const [, high, low] = uuidv7Shape.exec(id) ?? [];
  return high === undefined ? undefined : Number.parseInt(`${high}${low}`, 16);
}

/** Returns the id in lower case. Ids of the same millisecond are in no order. */
export function uuidv7(randomness: Pick<Randomness, 'uuid'>, nowMs: number): string {
  const time = Math.floor(nowMs).toString(16).padStart(timeDigits, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomness.uuid().slice(randomFrom)}`;
}
