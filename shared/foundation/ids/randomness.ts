// The only source of randomness. Everything else gets a Randomness as a parameter.
import { randomFillSync, randomUUID } from 'node:crypto';

export interface Randomness {
  /** A random UUID, version 4. */
  uuid(): string;
  bytes(length: number): Buffer;
  /** At least 0, below 1. For jitter and shard choice, never for secrets. */
  fraction(): number;
}

/** Fetched together: what it costs hardly depends on how many they are, and a call needs some of them several times. */
const poolBytes = 4_096;

const pool = Buffer.allocUnsafeSlow(poolBytes);
let used = poolBytes;

/** A copy: bytes of the pool are given out once. */
function pooledBytes(length: number): Buffer {
  if (length > poolBytes) return randomFillSync(Buffer.allocUnsafe(length));
  if (used + length > poolBytes) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + length));
  pool.fill(0, used, used + length);
  used += length;
  return bytes;
}

export const systemRandomness: Randomness = {
  uuid: () => randomUUID(),
  bytes: pooledBytes,
  fraction: () => Math.random(),
};
