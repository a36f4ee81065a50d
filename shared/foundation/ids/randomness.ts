// The one home of randomness. Everything else is handed a Randomness.
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
