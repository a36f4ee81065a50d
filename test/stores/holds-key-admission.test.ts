// Admission of a key on a real engine, with the items that the key store writes.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  createCounters,
  type KeyHold,
  type PaidKeyRequest,
  readKeySpending,
} from '../../shared/accounting/holds/index.ts';
import { createApiKey, createKeyStore, type KeyRecord, parseApiKey } from '../../shared/configuration/keys/index.ts';
import { holdLifeMs } from '../../shared/foundation/constants/index.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import type { Item, Store } from '../../shared/storage/store/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import type { TestStore } from '../support/test-store.ts';
import { onEachStore } from './each-store.ts';

onEachStore((start) => {
  let test: TestStore;
  beforeAll(async () => {
    test = await start();
  });
  afterAll(() => test.stop());

  const usd = (text: string): bigint => parseUsd(text) ?? 0n;

  /** Returns the size of an item by DynamoDB's count: names, text, half a byte a digit and one, three for a set. */
  const itemBytes = (item: Item): number =>
    Object.entries(item).reduce((sum, [name, value]) => sum + name.length + valueBytes(value), 0);
  function valueBytes(value: unknown): number {
    if (value instanceof Set) return [...value].reduce((sum, each) => sum + String(each).length, 0);
    if (typeof value === 'string') return value.length;
    const digits = String(value).replace(/^-/, '').replace(/0+$/, '').length;
    return typeof value === 'number' || typeof value === 'bigint'
      ? Math.ceil(digits / 2) + 1 + (String(value).startsWith('-') ? 1 : 0)
      : 1;
  }

  function countingStore(store: Store) {
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
    const { store, calls } = countingStore(test.store);
    /** Starts another gateway process. */
    const process = () => {
      const counters = createCounters({ store, clock, randomness: systemRandomness });
      return {
        counters,
        admit: (more: Partial<PaidKeyRequest> = {}) => counters.admitKey({ ...key, ...more }),
      };
    };
    const { counters, admit } = process();
    const hold = (owner: string, amount: string) => ({
      owner,
      amount: usd(amount),
      expiresAtMs: clock.nowMs() + 70_000,
    });
    const item = async () => (await test.store.get('keys', key.publicId)) ?? {};
    return { ...key, write, clock, calls, counters, process, admit, hold, item };
  }

  describe('admission of a key', () => {
    it('takes a slot with the money and the count, releases it with the settlement, and takes none of a dead owner for good', async () => {
      const { admit, hold, item, counters, calls, clock, process, write } = await newKey({
        rpm: 10,
        spendLimitUsd: '5',
      });
      const slots = async () => Number((await item()).balance_slots ?? 0);
      const withSlot = (owner: string, amount = '1') => ({
        hold: { ...hold(owner, amount), slot: true },
        defaultConcurrency: 2,
      });
      const first = await admit(withSlot('a'));
      await admit(withSlot('b'));
      expect(calls).toEqual({ reads: 1, writes: 2 });
      expect(await admit(withSlot('c'))).toMatchObject({ kind: 'concurrency', concurrency: 2 });
      expect(await admit(withSlot('c', '6'))).toMatchObject({ kind: 'spend_limit' });
      expect(await item()).toMatchObject({ requests_total: 2, balance_slots: -2 });
      await counters.settleKey((first as { hold: KeyHold }).hold, usd('0.5'));
      expect(await counters.settleKey((first as { hold: KeyHold }).hold, usd('0.5'))).toMatchObject({ kind: 'gone' });
      expect(await item()).toMatchObject({ balance_slots: -1, spent_pico_usd: Number(usd('0.5')) });
      // The key's own limit replaces the default, from the next request on.
      await write({ concurrency: 1 });
      expect(await process().admit(withSlot('d'))).toMatchObject({ kind: 'concurrency', concurrency: 1 });
      clock.advance(holdLifeMs + 5_000);
      expect(await process().admit(withSlot('e'))).toMatchObject({ kind: 'admitted', hold: { slot: true } });
      expect(await slots()).toBe(-1);
    });

    it('knows no key that does not exist and none with another secret, and counts nothing for it', async () => {
      const { admit, item, calls } = await newKey({ rpm: 1 });
      expect(await admit({ publicId: 'absent0123456789' })).toEqual({ kind: 'unknown' });
      expect(await test.store.get('keys', 'absent0123456789')).toBeUndefined();
      expect(await admit({ secretSha256: '0'.repeat(64) })).toEqual({ kind: 'unknown' });
      expect(await admit({ secretSha256: '0'.repeat(64), known: await item() })).toEqual({ kind: 'unknown' });
      // An old copy of the item proves a secret as well as a new one.
      expect(calls).toEqual({ reads: 2, writes: 0 });
    });

    it('is one write for a process that saw the key minutes ago, though others have used it since', async () => {
      const { process, clock, calls, hold } = await newKey({ rpm: 100, spendLimitUsd: '5' });
      const [seldom, often] = [process(), process()];
      await seldom.admit({ hold: hold('a', '0.01') });
      for (let round = 0; round < 20; round += 1) {
        clock.advance(7_000);
        const admission = await often.admit({ hold: hold(`b-${round}`, '0.01') });
        await often.counters.settleKey((admission as { hold: KeyHold }).hold, usd('0.005'));
      }
      const before = { ...calls };
      expect((await seldom.admit({ hold: hold('c', '0.01') })).kind).toBe('admitted');
      expect(calls).toEqual({ reads: before.reads, writes: before.writes + 1 });
    });

    it('leaves an item below a kilobyte, with every limit set, a thousand calls in flight and fifty processes', async () => {
      const { process, publicId, item, clock, hold } = await newKey({ rpm: 100_000, spendLimitUsd: '123456.789012' });
      await setAttribute(publicId, 'spend_limit_reset', 'monthly');
      await setAttribute(publicId, 'expires_at_ms', Date.UTC(2030));
      const processes = Array.from({ length: 50 }, () => process());
      let inFlight = 0;
      for (let second = 0; second < 66; second += 1) {
        clock.advance(1_000);
        await Promise.all(
          Array.from({ length: 17 }, async (_none, n) => {
            const admission = await processes[n % 3]?.admit({ hold: hold(`o-${second}-${n}`, '0.012345678901') });
            if (admission?.kind === 'admitted') inFlight += 1;
          }),
        );
      }
      expect(inFlight).toBeGreaterThan(1_000);
      // These calls were settled just now, by processes that have not written since.
      for (const [n, { admit, counters }] of processes.slice(17).entries()) {
        const admission = await admit({ hold: hold(`s-${n}`, '0.01') });
        await counters.settleKey((admission as { hold: KeyHold }).hold, usd('0.005'));
      }
      expect(itemBytes(await item())).toBeLessThan(1_024);
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
  });

  describe('a request that costs nothing', () => {
    it('is answered with the current counters, whichever process has changed them since', async () => {
      const { admit, process, hold, publicId, secretSha256 } = await newKey({ rpm: 100, spendLimitUsd: '50' });
      const { counters } = process();
      const spent = async () => {
        const count = await counters.countKeyRequest({ publicId, secretSha256 });
        return count.kind === 'counted' && readKeySpending(count.item, 0)?.held;
      };
      expect(await spent()).toBe(0n);
      await admit({ hold: hold('a', '3') });
      expect(await spent()).toBe(usd('3'));
    });
  });

  describe('any setting that is changed', () => {
    it('counts for the next call of a process that has just seen the key, at the cost of one refused write and of no read', async () => {
      const { admit, calls, clock, hold, write, publicId } = await newKey({ rpm: 100, spendLimitUsd: '50' });
      const admitted = async (owner: string) => {
        const admission = await admit({ hold: hold(owner, '1') });
        if (admission.kind !== 'admitted') throw new Error(admission.kind);
        return admission.item;
      };
      await admitted('a');
      calls.reads = 0;
      const changes = [
        { models: ['acme/echo'] },
        { name: 'another' },
        { tags: { team: 'b' } },
        { owner: 'ann' },
        { rpm: 70 },
      ];
      const settings = ['models', 'name', 'tags', 'owner', 'requests_per_minute'] as const;
      for (const [at, change] of changes.entries()) {
        const before = await admitted(`b-${at}`);
        await write(change);
        calls.writes = 0;
        const [after, storedItem] = [await admitted(`c-${at}`), await test.store.get('keys', publicId)];
        const name = settings[at] ?? '';
        expect(after[name]).toEqual(storedItem?.[name]);
        expect(after[name]).not.toEqual(before[name]);
        expect(calls).toEqual({ reads: 0, writes: 2 });
      }
      const keys = createKeyStore(test.store);
      const storedKey = await keys.read(publicId);
      const next = { publicId: 'k-next', secretSha256: 'f', expiresAtMs: null };
      if (storedKey !== undefined) await keys.rotate(storedKey, next, clock.nowMs() + 1e9);
      expect((await admitted('d')).public_id).toBe('k-next');
    });
  });

  describe('a key that expires', () => {
    it('is refused like a revoked one from that moment on, by a process that remembers it too', async () => {
      const { admit, clock, publicId, hold, item } = await newKey({ rpm: 5, spendLimitUsd: '5' });
      expect((await admit({ hold: hold('a', '1') })).kind).toBe('admitted');
      await setAttribute(publicId, 'expires_at_ms', clock.nowMs() + 30_000);
      expect((await admit({ hold: hold('b', '1') })).kind).toBe('admitted');
      clock.advance(30_000);
      expect((await admit({ hold: hold('c', '1') })).kind).toBe('revoked');
      expect(await item()).toMatchObject({ requests_total: 2, balance_pico_usd: -Number(usd('2')) });
    });
  });

  describe('a spend limit that is reset', () => {
    const dayMs = 86_400_000;

    async function spend(key: Awaited<ReturnType<typeof newKey>>, owner: string, amount: string, actual: string) {
      const admission = await key.admit({ hold: key.hold(owner, amount) });
      if (admission.kind === 'admitted' && admission.hold !== undefined) {
        await key.counters.settleKey(admission.hold, usd(actual));
      }
      return admission.kind;
    }

    it.each([
      ['daily', dayMs],
      ['weekly', 7 * dayMs],
      ['monthly', 31 * dayMs],
    ])('counts the spend anew from each boundary of UTC: %s', async (reset, periodMs) => {
      const key = await newKey({ spendLimitUsd: '5' });
      await setAttribute(key.publicId, 'spend_limit_reset', reset);
      // The clock is at Friday, 15 January 2027, 08:00.
      expect(await spend(key, 'a', '4', '4')).toBe('admitted');
      expect(await spend(key, 'b', '2', '2')).toBe('spend_limit');
      key.clock.advance(periodMs);
      expect(readKeySpending(await key.item(), key.clock.nowMs())).toMatchObject({ limit: usd('5'), spent: 0n });
      expect(await spend(key, 'c', '5', '3')).toBe('admitted');
      expect(readKeySpending(await key.item(), key.clock.nowMs())).toMatchObject({ spent: usd('3') });
      expect(await spend(key, 'd', '2.1', '2')).toBe('spend_limit');
      expect(await spend(key, 'd', '2', '2')).toBe('admitted');
      key.clock.advance(periodMs);
      expect(await spend(key, 'e', '5', '5')).toBe('admitted');
      expect(await key.item()).toMatchObject({ spent_pico_usd: Number(usd('14')) });
    });

    it('carries over what is reserved, and charges it to the period in which it is settled', async () => {
      const key = await newKey({ spendLimitUsd: '5' });
      await setAttribute(key.publicId, 'spend_limit_reset', 'daily');
      key.clock.advance(16 * 3_600_000 - 10_000);
      expect(await spend(key, 'a', '1', '1')).toBe('admitted');
      const admission = await key.admit({ hold: key.hold('over', '4') });
      key.clock.advance(20_000);
      expect((await key.admit({ hold: key.hold('b', '2') })).kind).toBe('spend_limit');
      await key.counters.settleKey((admission as { hold: KeyHold }).hold, usd('3'));
      expect(readKeySpending(await key.item(), key.clock.nowMs())).toEqual({
        limit: usd('5'),
        spent: usd('3'),
        held: 0n,
        periodStartMs: key.clock.nowMs() - 10_000,
      });
      expect(await spend(key, 'c', '2.1', '2')).toBe('spend_limit');
      expect(await spend(key, 'c', '2', '2')).toBe('admitted');
    });
  });

  describe('a key whose spending nothing limits', () => {
    it('counts what it has spent, once and in its period, which a limit that is given later holds against it', async () => {
      const key = await newKey();
      await setAttribute(key.publicId, 'spend_limit_reset', 'daily');
      const known = await key.item();
      const spent = async () => readKeySpending(await key.item(), key.clock.nowMs());
      const charge = (owner: string, amount: string) =>
        key.counters.chargeKey({ publicId: key.publicId, owner, known }, usd(amount));
      expect(await key.admit({ hold: key.hold('a', '9') })).toMatchObject({ kind: 'admitted', hold: undefined });
      key.calls.writes = 0;
      await charge('a', '3');
      await charge('b', '0');
      expect(key.calls.writes).toBe(1);
      expect(await spent()).toMatchObject({ limit: null, spent: usd('3'), held: 0n });
      expect(await key.item()).toMatchObject({ balance_pico_usd: -Number(usd('3')) });
      key.clock.advance(86_400_000);
      expect(await spent()).toMatchObject({ spent: 0n });
      await Promise.all([charge('c', '1'), charge('d', '0.5')]);
      expect(await spent()).toMatchObject({ spent: usd('1.5') });
      await key.write({ spendLimitUsd: '2', spendLimitReset: 'daily' });
      expect(await key.admit({ hold: key.hold('e', '0.6') })).toMatchObject({
        kind: 'spend_limit',
        available: usd('0.5'),
      });
      expect(await key.admit({ hold: key.hold('e', '0.5') })).toMatchObject({ kind: 'admitted' });
    });

    it('is charged by the write that releases its slot', async () => {
      const { admit, hold, counters, calls, item } = await newKey({ concurrency: 2 });
      const admission = await admit({ hold: { ...hold('a', '1'), slot: true } });
      calls.writes = 0;
      const { hold: takenHold } = admission as { hold: KeyHold };
      expect(await counters.settleKey(takenHold, usd('0.25'))).toMatchObject({ kind: 'settled' });
      expect(await counters.settleKey(takenHold, usd('0.25'))).toMatchObject({ kind: 'gone' });
      expect(calls.writes).toBe(1);
      expect(await item()).toMatchObject({ balance_slots: 0, spent_pico_usd: Number(usd('0.25')) });
    });

    it('that is gone is not made anew', async () => {
      const { counters } = await newKey();
      const publicId = 'absent0123456780';
      await counters.chargeKey({ publicId, owner: 'a', known: { secret_sha256: 'f' } }, usd('1'));
      expect(await test.store.get('keys', publicId)).toBeUndefined();
    });
  });

  const setAttribute = (publicId: string, attribute: string, value: string | number) =>
    test.store.update({
      table: 'keys',
      key: publicId,
      changes: { set: { [attribute]: value } },
    });

  describe('a key that was rotated', () => {
    const dayMs = 86_400_000;

    /** Creates a key with a second text, as a rotation does. */
    async function rotatedKey(
      limits: Partial<KeyRecord>,
      before: (key: Awaited<ReturnType<typeof newKey>>) => unknown,
    ) {
      const former = await newKey(limits);
      await before(former);
      const next = await rotate(former, former.publicId);
      const known = await former.item();
      const admit = (more: Partial<PaidKeyRequest>) => former.counters.admitKey({ ...next, known, ...more });
      const spending = async () => readKeySpending(await former.item(), former.clock.nowMs());
      return { former, next, admit, spending };
    }

    async function rotate({ clock }: Pick<Awaited<ReturnType<typeof newKey>>, 'clock'>, publicId: string) {
      const keys = createKeyStore(test.store);
      const next = parseApiKey(createApiKey(systemRandomness));
      const storedKey = await keys.read(publicId);
      if (next === undefined || storedKey === undefined) throw new Error('both texts must be readable');
      await keys.rotate(storedKey, { ...next, expiresAtMs: storedKey.expiresAtMs }, clock.nowMs() + dayMs);
      return next;
    }

    it('has one spend limit, one rate and one concurrency for both of its texts', async () => {
      const { former, admit, spending } = await rotatedKey({ spendLimitUsd: '5', rpm: 4, concurrency: 2 }, () => {});
      const slot = (owner: string, amount: string) => ({ hold: { ...former.hold(owner, amount), slot: true } });
      const ofFormer = (await former.admit(slot('a', '3'))) as { hold: KeyHold };
      expect(await admit({ hold: former.hold('b', '3') })).toMatchObject({ kind: 'spend_limit', available: usd('2') });
      const ofNext = (await admit(slot('c', '2'))) as { hold: KeyHold };
      expect(await former.admit(slot('d', '0'))).toMatchObject({ kind: 'concurrency', concurrency: 2 });
      for (const kind of ['settled', 'gone']) {
        expect((await former.counters.settleKey(ofFormer.hold, usd('1'))).kind).toBe(kind);
        expect((await former.counters.settleKey(ofNext.hold, usd('2'))).kind).toBe(kind);
      }
      expect(await spending()).toEqual({ limit: usd('5'), spent: usd('3'), held: 0n, periodStartMs: null });
      for (const one of [former.admit, admit]) expect((await one({})).kind).toBe('admitted');
      for (const one of [former.admit, admit]) expect((await one({})).kind).toBe('rate_limited');
    });

    it('is charged for a call that ran while it was rotated, by one write', async () => {
      let running: { hold: KeyHold } | undefined;
      const { former, admit, spending } = await rotatedKey({ spendLimitUsd: '5' }, async (key) => {
        running = (await key.admit({ hold: key.hold('before', '4') })) as { hold: KeyHold };
      });
      expect(await admit({ hold: former.hold('b', '2') })).toMatchObject({ available: usd('1') });
      former.calls.writes = 0;
      if (running !== undefined) await former.counters.settleKey(running.hold, usd('3'));
      expect(former.calls.writes).toBe(1);
      expect(await spending()).toEqual({ limit: usd('5'), spent: usd('3'), held: 0n, periodStartMs: null });
    });

    it('knows its former text until that ends or is revoked, no text of another, and both whichever was seen before', async () => {
      const { former, next, admit } = await rotatedKey({ rpm: 9 }, (key) => key.admit());
      // The process has read the key before its rotation.
      expect((await admit({})).kind).toBe('admitted');
      expect((await former.admit()).kind).toBe('admitted');
      const { secretSha256 } = former;
      const crossed = [await admit({ secretSha256 }), await former.admit({ secretSha256: next.secretSha256 })];
      expect(crossed.map(({ kind }) => kind)).toEqual(['unknown', 'unknown']);
      const last = await rotate(former, next.publicId);
      former.clock.advance(dayMs);
      const keys = [{}, { ...next }, { ...last }].map((key) => admit({ ...former, hold: undefined, ...key }));
      expect((await Promise.all(keys)).map(({ kind }) => kind)).toEqual(['revoked', 'revoked', 'admitted']);
    });

    it('keeps a revoked text revoked when it is rotated, and ends neither text with the other', async () => {
      const { former, next, admit } = await rotatedKey({}, () => {});
      const keys = createKeyStore(test.store);
      const change = async (publicId: string, status: KeyRecord['status']) => {
        const storedKey = await keys.read(publicId);
        return storedKey && keys.update(storedKey, { status });
      };
      await change(former.publicId, 'revoked');
      expect([(await former.admit()).kind, (await admit({})).kind]).toEqual(['revoked', 'admitted']);
      await change(former.publicId, 'active');
      await change(next.publicId, 'revoked');
      expect([(await former.admit()).kind, (await admit({})).kind]).toEqual(['admitted', 'revoked']);
      const newKey = await keys.read(next.publicId);
      expect(newKey && (await keys.rotate(newKey, { ...next, publicId: 'x', expiresAtMs: null }, 1))).toBe(false);
    });
  });

  describe('the page of the folder', () => {
    it('shows the item of a key as the calls it tells of leave it', async () => {
      const clock = manualClock(Date.parse('2026-11-22T08:22:31.200Z'));
      const randomness = { ...systemRandomness, bytes: (length: number) => Buffer.alloc(length, 7) };
      const secretSha256 = '0'.repeat(64);
      const publicId = 'pageExample00001';
      const limits = { rpm: 60, spendLimitUsd: '5.00', spendLimitReset: 'monthly' } as const;
      await createKeyStore(test.store).write({
        publicId,
        secretSha256,
        workspace: 'team-a',
        name: 'ci',
        status: 'active',
        ...limits,
      });
      const counters = createCounters({ store: test.store, clock, randomness });
      const call = (owner: string, amount: string) =>
        counters.admitKey({
          publicId,
          secretSha256,
          hold: { owner, amount: usd(amount), expiresAtMs: clock.nowMs() + holdLifeMs },
        });
      const first = await call('first', '0.03');
      clock.advance(1_500);
      await call('second', '0.02');
      if (first.kind !== 'admitted' || first.hold === undefined) throw new Error('it was not held');
      await counters.settleKey(first.hold, usd('0.0125'));
      const { secret_sha256: _secret, ...item } = (await test.store.get('keys', publicId)) ?? {};
      const page = readFileSync(new URL('../../shared/accounting/holds/README.md', import.meta.url), 'utf8');
      const [, shownJson = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
      const asJson = (value: unknown) => (value instanceof Set ? [...value] : value);
      expect(JSON.parse(shownJson)).toEqual(Object.fromEntries(Object.entries(item).map(([k, v]) => [k, asJson(v)])));
    });
  });
});
