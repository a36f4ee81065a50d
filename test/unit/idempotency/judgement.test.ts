// The rule is written twice: as a condition that the engine checks, and as `judge`, which reads what the condition
// refused. Here both look at the same records.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { claimPut, recordOf } from '../../../shared/accounting/idempotency/idempotency-item.ts';
import { type Claimant, type IdempotencyRecord, judge } from '../../../shared/accounting/idempotency/record.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';

let database: TestStore;
beforeAll(async () => {
  database = await startTestStore();
});
afterAll(() => database.stop());

const nowMs = 1_800_000_000_500;
const nowSeconds = 1_800_000_000;
const claimant: Claimant = { fingerprint: 'mine', owner: 'me', nowMs };

const running = fc.record({
  state: fc.constant('running'),
  fingerprint: fc.constantFrom('mine', 'other'),
  owner: fc.constantFrom('me', 'other', undefined),
  lease_until_ms: fc.constantFrom(0, nowMs - 1, nowMs, nowMs + 1),
  expires_at_epoch_seconds: fc.constantFrom(nowSeconds - 1, nowSeconds, nowSeconds + 1),
});
const done = fc.record({
  state: fc.constant('done'),
  fingerprint: fc.constantFrom('mine', 'other'),
  owner: fc.constantFrom('me', 'other'),
  result: fc.constant({ status: 200, headers: {}, body_sha256: 'h', body_gzip: Uint8Array.of(1) }),
  expires_at_epoch_seconds: fc.constantFrom(nowSeconds - 1, nowSeconds, nowSeconds + 1),
});

describe('the judgement of a record', () => {
  it('calls free exactly what the condition of a claim lets pass', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(running, done), async (members: Item) => {
        const pk = systemRandomness.uuid();
        await database.store.put({ table: 'idempotency', item: { pk, ...members } });
        const outcome = await database.store.put(claimPut(pk, { ...claimant, leaseUntilMs: nowMs + 1 }));
        const verdict = judge(recordOf({ pk, ...members }), claimant);
        // Its own running record may be written anew or be recognised: either way the claimant has it.
        if (verdict === 'own') expect(members).toMatchObject({ state: 'running', owner: 'me' });
        else expect(outcome.kind).toBe(verdict === 'free' ? 'written' : 'refused');
        if (outcome.kind === 'refused')
          expect(outcome.item).toEqual(JSON.parse(JSON.stringify({ pk, ...members }), bytes));
      }),
      { numRuns: 300 },
    );
  });

  it('lets a conflict win over a call that runs or is done', () => {
    const common = { fingerprint: 'other', owner: 'other', expiresAtEpochSeconds: nowSeconds + 1 };
    const records: IdempotencyRecord[] = [
      { ...common, state: 'running', leaseUntilMs: nowMs + 1 },
      { ...common, state: 'done', result: { status: 200, headers: {} }, body: { sha256: 'h', blobKey: 'b' } },
    ];
    expect(records.map((record) => judge(record, claimant))).toEqual(['conflict', 'conflict']);
  });
});

/** JSON has no bytes. */
const bytes = (name: string, value: unknown) =>
  name === 'body_gzip' ? Uint8Array.from(Object.values(value as Record<string, number>)) : value;
