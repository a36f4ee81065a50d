// Admission of a key on a real engine, against the items that the key store writes.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type KeyAdmissionRequest,
  type KeyHold,
  settleKeyHold,
  takeKeyAdmission,
} from '../../shared/accounting/holds/index.ts';
import { createApiKey, createKeyStore, type KeyRecord, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import type { Store } from '../../shared/storage/store/index.ts';
import { startTestStore, type TestStore } from '../support/dynamodb.ts';
import { manualClock } from '../support/manual-clock.ts';

let test: TestStore;
beforeAll(async () => {
  test = await startTestStore();
});
afterAll(() => test.stop());

const usd = (text: string): bigint => parseUsd(text) ?? 0n;

function counted(store: Store) {
  const calls = { reads: 0, writes: 0 };
  const countedStore: Store = {
    ...store,
    get: (...args) => {
      calls.reads += 1;
      return store.get(...args);
    },
    update: (...args) => {
      calls.writes += 1;
      return store.update(...args);
    },
  };
  return { store: countedStore, calls };
}

async function newKey(limits: Partial<KeyRecord> = {}) {
  const key = parseApiKey(createApiKey(systemRandomness));
  if (key === undefined) throw new Error('a new key must be readable');
  const record = { ...key, workspace: 'w', name: 'n', status: 'active', rpm: null, spendLimitUsd: null } as const;
  const keys = createKeyStore(test.store);
  const write = (changes: Partial<KeyRecord>) => keys.write({ ...record, ...limits, ...changes });
  await write({});
  const clock = manualClock();
  const { store, calls } = counted(test.store);
  const admit = (more: Partial<KeyAdmissionRequest> = {}) =>
    takeKeyAdmission({ store, ...key, nowMs: clock.nowMs(), ...more });
  const hold = (owner: string, amount: string) => ({ owner, amount: usd(amount), expiresAtMs: clock.nowMs() + 70_000 });
  const item = async () => (await test.store.get('keys', key.publicId)) ?? {};
  return { ...key, write, clock, store, calls, admit, hold, item };
}

describe('a key without limits', () => {
  it('costs one read and no write, known or not', async () => {
    const { admit, calls, hold } = await newKey();
    const first = await admit({ hold: hold('a', '1') });
    expect(first).toMatchObject({ kind: 'admitted', hold: undefined });
    if (first.kind !== 'admitted') throw new Error('admitted');
    await admit({ known: first.item, hold: hold('b', '1') });
    expect(calls).toEqual({ reads: 2, writes: 0 });
  });
});

describe('admission of a key', () => {
  it('is one write for a known key, which counts and holds together', async () => {
    const { admit, calls, hold, item } = await newKey({ rpm: 10, spendLimitUsd: '5' });
    const first = await admit({ hold: hold('a', '1') });
    expect(calls).toEqual({ reads: 1, writes: 1 });
    const known = first.kind === 'admitted' ? first.item : undefined;
    expect(await admit({ known, hold: hold('b', '2') })).toMatchObject({ kind: 'admitted', hold: { owner: 'b' } });
    expect(calls).toEqual({ reads: 1, writes: 2 });
    expect(await item()).toMatchObject({ rate_sum: 2, balance_pico_usd: Number(-usd('3')) });
  });

  it('counts nothing and holds nothing where any part of it is refused', async () => {
    const { admit, hold, item, write } = await newKey({ rpm: 2, spendLimitUsd: '5' });
    expect(await admit({ hold: hold('a', '6') })).toMatchObject({ kind: 'spend_limit', available: usd('5') });
    expect((await item()).rate_sum).toBeUndefined();
    await admit();
    await admit();
    expect((await admit({ hold: hold('b', '1') })).kind).toBe('rate_limited');
    expect(await item()).toMatchObject({ rate_sum: 2 });
    expect(await item()).not.toHaveProperty('hold#b');
    await write({ status: 'revoked' });
    expect((await admit({ hold: hold('c', '1') })).kind).toBe('revoked');
    expect(await item()).not.toHaveProperty('hold#c');
  });

  it('names the error that stands first: revoked, then the rate, then the money', async () => {
    const { admit, hold, write } = await newKey({ rpm: 1, spendLimitUsd: '1' });
    await admit();
    expect((await admit({ hold: hold('a', '2') })).kind).toBe('rate_limited');
    await write({ status: 'revoked' });
    expect((await admit({ hold: hold('a', '2') })).kind).toBe('revoked');
  });

  it('refuses a key from its expiry on, and takes no hold from it', async () => {
    const nowMs = 1_800_000_000_000;
    const { admit, hold, item, write } = await newKey({ rpm: 5, spendLimitUsd: '1', expiresAtMs: nowMs });
    expect((await admit({ nowMs: nowMs - 1 })).kind).toBe('admitted');
    expect((await admit({ nowMs, hold: hold('a', '1') })).kind).toBe('revoked');
    expect(await item()).not.toHaveProperty('hold#a');
    await write({ expiresAtMs: null });
    expect((await admit({ nowMs })).kind).toBe('admitted');
  });

  it('knows no key that does not exist and none with another secret, and counts nothing for it', async () => {
    const { admit, item, calls } = await newKey({ rpm: 1 });
    expect(await admit({ publicId: 'absent0123456789' })).toEqual({ kind: 'unknown' });
    expect(await test.store.get('keys', 'absent0123456789')).toBeUndefined();
    expect(await admit({ secretSha256: '0'.repeat(64) })).toEqual({ kind: 'unknown' });
    expect(await admit({ secretSha256: '0'.repeat(64), known: await item() })).toEqual({ kind: 'unknown' });
    expect(calls.writes).toBe(0);
  });

  it('of fifty at once with a limit of ten requests passes ten', async () => {
    const { admit, item } = await newKey({ rpm: 10 });
    const results = await Promise.all(Array.from({ length: 50 }, () => admit()));
    expect(results.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
    expect(results.filter(({ kind }) => kind === 'rate_limited')).toHaveLength(40);
    expect(await item()).toMatchObject({ rate_sum: 10 });
  });

  it('of fifty at once with money for ten passes ten', async () => {
    const { admit, hold } = await newKey({ rpm: 1_000, spendLimitUsd: '1' });
    const results = await Promise.all(Array.from({ length: 50 }, (_, n) => admit({ hold: hold(`o-${n}`, '0.1') })));
    expect(results.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
    expect(results.filter(({ kind }) => kind === 'spend_limit')).toHaveLength(40);
  });

  it('passes again when the wait it named is over, and a millisecond earlier does not', async () => {
    const { admit, clock } = await newKey({ rpm: 2 });
    await admit();
    clock.advance(20_500);
    await admit();
    const full = await admit();
    expect(full).toMatchObject({ kind: 'rate_limited', retryAfterMs: 39_500 });
    clock.advance(39_499);
    expect(await admit()).toMatchObject({ kind: 'rate_limited', retryAfterMs: 1 });
    clock.advance(1);
    const results = await Promise.all(Array.from({ length: 10 }, () => admit()));
    expect(results.filter(({ kind }) => kind === 'admitted')).toHaveLength(1);
  });

  it('of many instances with memories of different ages never passes more than the limit in a minute', async () => {
    const { admit, clock } = await newKey({ rpm: 20 });
    const known: (KeyAdmissionRequest['known'] | undefined)[] = [undefined, undefined, undefined, undefined];
    const admittedAtMs: number[] = [];
    for (let round = 0; round < 40; round += 1) {
      clock.advance(1_700 + (round % 3) * 400);
      const nowMs = clock.nowMs();
      const results = await Promise.all(known.map((item) => admit({ known: item, nowMs })));
      results.forEach((result, instance) => {
        if (result.kind === 'admitted') admittedAtMs.push(nowMs);
        if (result.kind === 'admitted' && round % (instance + 1) === 0) known[instance] = result.item;
      });
    }
    expect(admittedAtMs.length).toBeGreaterThan(20);
    for (const fromMs of admittedAtMs) {
      expect(admittedAtMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000).length).toBeLessThanOrEqual(20);
    }
  });
});

describe('a limit that is changed', () => {
  it('binds an instance that remembers the old one', async () => {
    const { admit, hold, item, write } = await newKey({ rpm: 100, spendLimitUsd: '5' });
    const known = await item();
    await write({ rpm: 1, spendLimitUsd: '2' });
    expect((await admit({ known, hold: hold('a', '3') })).kind).toBe('spend_limit');
    expect((await admit({ known, hold: hold('a', '1') })).kind).toBe('admitted');
    expect((await admit({ known })).kind).toBe('rate_limited');
    await write({ status: 'revoked' });
    expect((await admit({ known })).kind).toBe('revoked');
    await write({ rpm: null, spendLimitUsd: null });
    expect(await admit({ known, hold: hold('b', '9') })).toMatchObject({ kind: 'admitted', hold: undefined });
  });

  it('binds an instance that remembers none', async () => {
    const { admit, hold, item, write } = await newKey();
    const known = await item();
    await write({ rpm: 1, spendLimitUsd: '2' });
    expect((await admit({ known, hold: hold('a', '3') })).kind).toBe('spend_limit');
    expect(await admit({ known, hold: hold('a', '1') })).toMatchObject({ kind: 'admitted', hold: { owner: 'a' } });
    expect((await admit({ known, hold: hold('b', '1') })).kind).toBe('rate_limited');
    expect((await admit({ known, hold: hold('b', '1'), countsRequest: false })).kind).toBe('admitted');
  });

  it('from none to some of one kind is seen by a write for the other', async () => {
    const { admit, hold, item, write } = await newKey({ rpm: 5 });
    const known = await item();
    await write({ spendLimitUsd: '2' });
    expect((await admit({ known, hold: hold('a', '3') })).kind).toBe('spend_limit');
    expect((await item()).rate_sum).toBeUndefined();
  });
});

describe('the hold of a key', () => {
  it('is settled once to the real cost', async () => {
    const { admit, hold, item, clock } = await newKey({ spendLimitUsd: '5' });
    const admitted = await admit({ hold: hold('a', '4') });
    expect(admitted.kind).toBe('admitted');
    const taken = (admitted as { hold: KeyHold }).hold;
    const settlement = { store: test.store, hold: taken, actual: usd('1.5'), nowMs: clock.nowMs() };
    expect((await settleKeyHold(settlement)).kind).toBe('settled');
    expect((await settleKeyHold(settlement)).kind).toBe('gone');
    expect(await item()).toMatchObject({ spent_pico_usd: Number(usd('1.5')), balance_pico_usd: -Number(usd('1.5')) });
    expect((await admit({ hold: hold('b', '3.5') })).kind).toBe('admitted');
    expect((await admit({ hold: hold('c', '0.000000000001') })).kind).toBe('spend_limit');
  });

  it('of a dead owner comes back for the next request after its lease', async () => {
    const { admit, hold, clock } = await newKey({ rpm: 5, spendLimitUsd: '5' });
    await admit({ hold: hold('dead', '5') });
    clock.advance(69_999);
    expect((await admit({ hold: hold('b', '1') })).kind).toBe('spend_limit');
    clock.advance(1);
    expect((await admit({ hold: hold('b', '1') })).kind).toBe('admitted');
  });

  it('leaves the configuration of the key as the operator wrote it', async () => {
    const { admit, hold, publicId } = await newKey({ rpm: 5, spendLimitUsd: '5' });
    const before = await createKeyStore(test.store).read(publicId);
    await admit({ hold: hold('a', '1') });
    expect(await createKeyStore(test.store).read(publicId)).toEqual(before);
  });
});
