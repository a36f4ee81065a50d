// The default rate of keys without a rate of their own: one request of ten counts it, and every request is checked.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { createCounters } from '../../shared/accounting/holds/index.ts';
import { createApiKey, createKeyStore, type KeyRecord, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import { startTestStore, type TestStore } from '../support/test-store.ts';
import { aroundStore } from '../support/wrapped-store.ts';

describe('the default rate of a key', () => {
  let test: TestStore;
  beforeAll(async () => {
    test = await startTestStore();
  });
  afterAll(() => test.stop());

  async function newKey(keyRequestsPerMinute: number, limits: Partial<KeyRecord> = {}) {
    const key = parseApiKey(createApiKey(systemRandomness));
    if (key === undefined) throw new Error('a new key must be readable');
    const record = { ...key, workspace: 'w', name: 'n', status: 'active', rpm: null, spendLimitUsd: null } as const;
    const keys = createKeyStore(test.store);
    const write = (changes: Partial<KeyRecord>) => keys.write({ ...record, ...limits, ...changes });
    await write({});
    const clock = manualClock();
    let writes = 0;
    const store = aroundStore(test.store, (call, run) => {
      if (call.method === 'update') writes += 1;
      return run();
    });
    const instance = () => createCounters({ store, clock, randomness: systemRandomness, keyRequestsPerMinute });
    const admit = async (counters = instance(), amount = 0n) => {
      const hold = { owner: crypto.randomUUID(), amount, expiresAtMs: clock.nowMs() + 70_000 };
      return counters.admitKey({ ...key, hold: amount === 0n ? undefined : hold });
    };
    const total = async () => Number((await test.store.get('keys', key.publicId))?.requests_total ?? 0);
    return { write, admit, instance, total, clock, writes: () => writes };
  }

  it('is one write for ten requests, which counts them all', async () => {
    const { admit, instance, total, writes } = await newKey(6_000);
    const counters = instance();
    for (let n = 0; n < 40; n += 1) expect((await admit(counters)).kind).toBe('admitted');
    expect([writes(), await total()]).toEqual([4, 40]);
  });

  it.each([
    ['its own rpm', { rpm: 6_000 }, 0n],
    ['a spend limit', { spendLimitUsd: '5.00' }, 1n],
  ] as const)('counts each request of a key with %s, which writes anyway', async (_name, limits, amount) => {
    const { admit, instance, total, writes } = await newKey(6_000, limits);
    const counters = instance();
    for (let n = 0; n < 12; n += 1) await admit(counters, amount);
    expect([writes(), await total()]).toEqual([12, 12]);
  });

  it('refuses every request beyond it, the counted and the others, from every instance, until its time has passed', async () => {
    const { admit, instance, clock } = await newKey(1_200);
    const instances = [instance(), instance(), instance()];
    let admitted = 0;
    for (let n = 0; n < 1_230; n += 1) {
      const { kind } = await admit(instances[n % 3]);
      if (kind === 'admitted') admitted += 1;
      else break;
    }
    // Each instance may have one request that it has not counted.
    expect([admitted >= 1_194, admitted <= 1_206]).toEqual([true, true]);
    for (let n = 0; n < 12; n += 1) {
      expect(await admit(instances[n % 3])).toMatchObject({ kind: 'rate_limited', requestsPerMinute: 1_200 });
    }
    clock.advance(66_000);
    expect((await admit(instances[0])).kind).toBe('admitted');
  });

  it('that is small is counted by each request', async () => {
    const { admit, instance, writes } = await newKey(100);
    const counters = instance();
    for (let n = 0; n < 5; n += 1) await admit(counters);
    expect(writes()).toBe(5);
  });

  it('lets no request of a key pass that was ended a moment ago, counted or not', async () => {
    const { admit, instance, write } = await newKey(6_000);
    const counters = instance();
    await admit(counters);
    await write({ status: 'revoked' });
    for (let n = 0; n < 11; n += 1) expect((await admit(counters)).kind).toBe('revoked');
  });
});
