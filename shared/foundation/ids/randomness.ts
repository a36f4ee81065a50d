// The only source of randomness. Everything else gets a Randomness as a parameter.
import { randomBytes, randomUUID } from 'node:crypto';

export interface Randomness {
  /** A random UUID, version 4. */
  uuid(): string;
  bytes(length: number): Buffer;
  /** At least 0, below 1. For jitter and shard choice, never for secrets. */
  fraction(): number;
}

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  bytes: (length) => randomBytes(length),
  fraction: () => Math.random(),
};
