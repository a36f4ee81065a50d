import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { bucketOf } from '../../../shared/accounting/provider-health/histogram.ts';
import {
  candidateNameOf,
  counterKinds,
  counterName,
  countersKey,
  countersKeys,
  groupOf,
  minutesRead,
  modelNameOf,
  modelPartOf,
  readCounterName,
  windowMs,
  windowOf,
} from '../../../shared/accounting/provider-health/layout.ts';

const id = fc.stringMatching(/^[A-Za-z0-9._:/@-]{1,80}$/);

describe('the layout of the counters', () => {
  it('gives every id a short name from which candidate, model, kind and bucket can be read back', () => {
    fc.assert(
      fc.property(id, id, fc.double({ min: 0, noNaN: true }), (model, provider, durationMs) => {
        const candidateName = candidateNameOf(model, provider);
        const bucket = bucketOf(durationMs);
        const latency = readCounterName(counterName(candidateName, 'latency', bucket));
        expect(latency).toEqual({ candidateName, kind: counterKinds.latency, bucket });
        const failed = readCounterName(counterName(candidateName, 'failed'));
        expect(failed).toEqual({ candidateName, kind: counterKinds.failed, bucket: 0 });
        expect(modelPartOf(candidateName)).toBe(modelNameOf(model));
        expect(counterName(candidateName, 'latency', bucket)).toHaveLength(12);
      }),
    );
  });

  it('takes no other attribute for a counter', () => {
    for (const attribute of ['pk', 'expires_at_epoch_seconds', 'constructor', '__proto__']) {
      expect(readCounterName(attribute)).toBeUndefined();
    }
  });

  it('lets a rebuild find every item a recorder may write, in 128 reads, from 15 to 30 minutes back', () => {
    fc.assert(
      fc.property(fc.nat(4_000_000_000_000), id, fc.nat(1), (nowMs, model, shard) => {
        const keys = countersKeys(nowMs);
        expect(new Set(keys).size).toBe(128);
        expect(keys).toContain(countersKey(windowOf(nowMs), groupOf(model), shard));
        expect(keys).toContain(countersKey(windowOf(nowMs - windowMs), groupOf(model), shard));
        expect(minutesRead(nowMs)).toBeGreaterThanOrEqual(15);
        expect(minutesRead(nowMs)).toBeLessThan(30);
      }),
      { numRuns: 30 },
    );
  });
});
