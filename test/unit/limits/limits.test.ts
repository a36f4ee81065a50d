import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { nextTry } from '../../../shared/accounting/limits/index.ts';
import { type EntryLimits, hasNoLimit, shardCountOf, shardLimitsOf } from '../../../shared/accounting/limits/limits.ts';

describe('a limited call', () => {
  it('does not wait for a slot that comes after its queue time', () => {
    expect(nextTry(2_001, 0, 2_000, 55_000)).toBeUndefined();
    expect(nextTry(1_401, 600, 2_000, 55_000)).toBeUndefined();
    expect(nextTry(1, 2_000, 2_000, 55_000)).toBeUndefined();
    expect(nextTry(1, 0, 0, 55_000)).toBeUndefined();
  });

  it('does not ask more often than every 50 ms, unless its queue time ends sooner', () => {
    expect(nextTry(3, 0, 2_000, 55_000)).toBe(50);
    expect(nextTry(3, 1_980, 2_000, 55_000)).toBe(20);
  });

  it('never waits less than the slot needs, never beyond queue or budget, and never not at all', () => {
    const ms = fc.nat(5_000);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), ms, ms, ms, (retryAfterMs, queuedMs, queueMs, remainingMs) => {
        const waitMs = nextTry(retryAfterMs, queuedMs, queueMs, remainingMs);
        if (waitMs === undefined) return;
        expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(queuedMs + waitMs).toBeLessThanOrEqual(queueMs);
        expect(waitMs).toBeLessThan(remainingMs);
      }),
    );
  });
});

const limit = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 2e9 }),
    fc.maxSafeNat().map((n) => Math.max(1, n)),
  ),
);
const entryLimits = fc.record({ rpm: limit, tpm: limit, tpd: limit }).filter((limits) => !hasNoLimit(limits));
const none = { rpm: null, tpm: null, tpd: null };

describe('the shards of an entry', () => {
  it('have limits that add up to those of the entry, none of them zero', () => {
    fc.assert(
      fc.property(entryLimits, (limits) => {
        const shardCount = shardCountOf(limits);
        const parts = Array.from({ length: shardCount }, (_, shard) => shardLimitsOf(limits, shard, shardCount));
        for (const kind of ['rpm', 'tpm', 'tpd'] satisfies (keyof EntryLimits)[]) {
          const ofKind = parts.map((part) => part[kind]);
          if (limits[kind] === null) {
            expect(ofKind.every((part) => part === null)).toBe(true);
            continue;
          }
          expect(ofKind.reduce((sum, part) => sum + BigInt(part ?? 0), 0n)).toBe(BigInt(limits[kind]));
          expect(Math.min(...ofKind.map((part) => part ?? 0))).toBeGreaterThan(0);
          expect(Math.max(...ofKind.map(Number)) - Math.min(...ofKind.map(Number))).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it('are one if at most 500 calls a second are admitted, and one more for every 500', () => {
    expect(shardCountOf({ ...none, rpm: 1 })).toBe(1);
    expect(shardCountOf({ ...none, rpm: 30_000 })).toBe(1);
    expect(shardCountOf({ ...none, rpm: 30_001 })).toBe(2);
    expect(shardCountOf({ ...none, rpm: 90_000 })).toBe(3);
  });

  it('are as few as the tightest of the limits needs', () => {
    expect(shardCountOf({ ...none, tpm: 3_000_000 })).toBe(1);
    expect(shardCountOf({ ...none, tpm: 3_000_001 })).toBe(2);
    expect(shardCountOf({ rpm: 600, tpm: 100_000_000, tpd: null })).toBe(1);
    expect(shardCountOf({ rpm: 90_000, tpm: null, tpd: 1_000_000 })).toBe(1);
    expect(shardCountOf({ ...none, tpd: 1_000_000_000 })).toBe(3);
  });

  it('are never more than a hundred', () => {
    expect(shardCountOf({ ...none, rpm: Number.MAX_SAFE_INTEGER })).toBe(100);
  });

  it('each hold a large call of some million tokens without cutting it', () => {
    fc.assert(
      fc.property(entryLimits, (limits) => {
        const shardCount = shardCountOf(limits);
        const { tpm, tpd } = shardLimitsOf(limits, shardCount - 1, shardCount);
        const least = 1_400_000;
        if (shardCount > 1 && tpm !== null) expect(tpm).toBeGreaterThan(least);
        if (shardCount > 1 && tpd !== null) expect(tpd).toBeGreaterThan(least);
      }),
    );
  });
});
