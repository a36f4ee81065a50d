import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  createApiKey,
  createKeyStore,
  fromWrittenKey,
  isKeyExpired,
  type KeyRecord,
  parseApiKey,
  readKeyRecord,
  writtenKey,
} from '../../../shared/configuration/keys/index.ts';
import { itemOf } from '../../../shared/configuration/keys/key-record.ts';
import { readKeySettings } from '../../../shared/configuration/keys/key-settings.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { startTestStore, type TestStore } from '../../support/test-store.ts';

describe('a key of a stage', () => {
  it('begins its public id with the cell of the stage, and is as long, valid and secret as any other', () => {
    const [one, other] = [createApiKey(systemRandomness, 'e1'), createApiKey(systemRandomness, 'e1')];
    for (const text of [one, other]) {
      expect(text).toMatch(/^sk-gw-e1[0-9A-Za-z]{14}-[0-9A-Za-z]{49}$/);
      expect(parseApiKey(text)?.publicId).toBe(text.slice(6, 22));
    }
    expect(one.slice(8)).not.toBe(other.slice(8));
  });
});

describe('at rest', () => {
  let database: TestStore;
  beforeAll(async () => {
    database = await startTestStore();
  });
  afterAll(() => database.stop());

  function newKey(more: Partial<KeyRecord> = {}): { text: string; record: KeyRecord } {
    const text = createApiKey(systemRandomness);
    const parsed = parseApiKey(text);
    if (parsed === undefined) throw new Error('a created key must parse');
    const settings = readKeySettings({ name: 'ci', status: 'active' });
    return { text, record: { ...parsed, workspace: 'w', ...settings, replacedBy: null, ...more } };
  }

  describe('keys at rest', () => {
    it('are stored hashed: neither the text nor the secret is in any table', async () => {
      const keys = createKeyStore(database.store);
      const { text, record } = newKey();
      await keys.write(record);
      const dump = await database.dumpTables();
      expect(dump).toContain(record.secretSha256);
      expect(dump).not.toContain(text);
      expect(dump).not.toContain(text.slice(-49, -6));
    });

    it('are active when they are new and nothing else is said, and keep their status after that', async () => {
      const keys = createKeyStore(database.store);
      const { status: _status, ...record } = newKey().record;
      expect(await keys.write(record)).toBe('created');
      expect(await keys.read(record.publicId)).toEqual({ ...record, status: 'active' });
      expect(await keys.write({ ...record, status: 'revoked' })).toBe('changed');
      expect(await keys.write(record)).toBe('unchanged');
      expect(await keys.write({ ...record, rpm: 9 })).toBe('changed');
      expect(await keys.read(record.publicId)).toEqual({ ...record, rpm: 9, status: 'revoked' });
    });

    it('are one key if several operators write it at once, with what it has counted', async () => {
      const keys = createKeyStore(database.store);
      const { record } = newKey();
      let hasRead = false;
      const hasReadBefore = createKeyStore({
        ...database.store,
        async get(...args) {
          const item = hasRead ? await database.store.get(...args) : undefined;
          hasRead = true;
          return item;
        },
      });
      await keys.write(record);
      await database.store.update({ table: 'keys', key: record.publicId, changes: { set: { spent_pico_usd: 42n } } });
      expect(await hasReadBefore.write({ ...record, rpm: 10 })).toBe('changed');
      const item = await database.store.get('keys', record.publicId);
      expect(item).toMatchObject({ spent_pico_usd: 42, requests_per_minute: 10 });
    });

    it('never move to another workspace or another secret', async () => {
      const keys = createKeyStore(database.store);
      const { record } = newKey();
      await keys.write(record);
      await expect(keys.write({ ...record, workspace: 'other' })).rejects.toThrow('another workspace');
      await expect(keys.write({ ...record, secretSha256: '0'.repeat(64) })).rejects.toThrow('another secret');
      expect(await keys.read(record.publicId)).toEqual(record);
    });
  });

  describe('a name', () => {
    const claimed = async (name: string, more: Partial<KeyRecord> = {}) => {
      const keys = createKeyStore(database.store);
      const [{ record: first }, { record: second }] = [newKey({ name, ...more }), newKey({ name })];
      expect(await keys.claimName(first, 0)).toBe(first.publicId);
      return { keys, first, second };
    };

    it('that is claimed waits ten seconds for its key, and is free again if none came', async () => {
      const { keys, first, second } = await claimed('abandoned');
      expect(await keys.claimName(second, 9_999)).toBe(first.publicId);
      expect(await keys.claimName(first, 9_999)).toBe(first.publicId);
      expect(await keys.claimName(second, 19_999)).toBe(second.publicId);
    });

    it('belongs to its key for as long as that can be used, and to the next one from then on', async () => {
      const { keys, first, second } = await claimed('used', { expiresAtMs: 50_000 });
      await keys.write(first);
      expect(await keys.claimName(second, 49_999)).toBe(first.publicId);
      expect(await keys.claimName(second, 50_000)).toBe(second.publicId);
    });
  });

  describe('a key that is rotated', () => {
    const endMs = 90_000;
    const next = () => ({ ...newKey().record, expiresAtMs: null });

    /** Creates a key with three texts, the newest last. */
    async function rotatedTwice(more: Partial<KeyRecord> = {}) {
      const keys = createKeyStore(database.store);
      const texts = [newKey(more).record, next(), next()] as const;
      await keys.write(texts[0]);
      const ids = texts.map(({ publicId }) => publicId) as [string, string, string];
      const current = async (at: number) => (await keys.read(ids[at] ?? '')) as KeyRecord;
      expect(await keys.rotate(await current(0), texts[1], endMs)).toBe(true);
      expect(await keys.rotate(await current(1), texts[2], endMs)).toBe(true);
      return { keys, ids, current };
    }

    /** Returns a key store that runs `other` before its first write. */
    const overtakenBy = (other: () => Promise<unknown>) => {
      let isFirst = true;
      return createKeyStore({
        ...database.store,
        async update(update) {
          if (isFirst) {
            isFirst = false;
            await other();
          }
          return database.store.update(update);
        },
      });
    };

    it('is listed once for each of its texts, under the name and with the settings of the key', async () => {
      const { keys, ids } = await rotatedTwice({ name: 'thrice', rpm: 3 });
      const all: KeyRecord[] = [];
      for await (const record of keys.list()) all.push(record);
      expect(all.map(({ workspace }) => workspace)).toEqual(all.map(() => 'w'));
      const keysOfName = all.filter(({ name }) => name === 'thrice');
      expect(keysOfName.map(({ publicId, rpm, replacedBy }) => [publicId, rpm, replacedBy])).toEqual([
        [ids[2], 3, null],
        [ids[1], 3, ids[2]],
        [ids[0], 3, ids[2]],
      ]);
    });

    it('keeps what was changed of its former texts at the same moment, by a rotation or by another change', async () => {
      const { keys, ids, current } = await rotatedTwice();
      const [first, second, third] = [await current(0), await current(1), await current(2)];
      const late = overtakenBy(() => keys.update(first, { status: 'revoked' }));
      expect(await late.update(second, { status: 'revoked' })).toBe('changed');
      const revokedKey = await current(1);
      const rotating = overtakenBy(() => keys.update(revokedKey, { status: 'active' }));
      expect(await rotating.rotate(third, next(), endMs)).toBe(true);
      const statuses = await Promise.all(ids.map(async (_id, at) => (await current(at)).status));
      expect(statuses).toEqual(['revoked', 'active', 'active']);
    });

    it('gets one next text, the first, and none once it was revoked', async () => {
      const keys = createKeyStore(database.store);
      const [{ record: rotatedKey }, { record: revokedKey }] = [newKey(), newKey({ status: 'revoked' })];
      for (const record of [rotatedKey, revokedKey]) await keys.write(record);
      const keyRecord = next();
      // The second rotation repeats the first, as after a lost answer.
      const won = [];
      for (const text of [keyRecord, keyRecord, next()]) won.push(await keys.rotate(rotatedKey, text, endMs));
      const late = next();
      expect([...won, await keys.rotate(revokedKey, late, endMs)]).toEqual([true, true, false, false]);
      expect(await keys.read(late.publicId)).toBeUndefined();
      expect(await keys.read(rotatedKey.publicId)).toMatchObject({ replacedBy: keyRecord.publicId });
      expect(await keys.read(revokedKey.publicId)).toMatchObject({ status: 'revoked', replacedBy: null });
    });

    it('keeps its name, whichever of its texts had claimed it', async () => {
      const { record } = newKey({ name: 'kept' });
      const keys = createKeyStore(database.store);
      await keys.claimName(record, 0);
      await keys.write(record);
      const keyRecord = next();
      await keys.rotate(record, keyRecord, endMs);
      const claimed = async (publicId: string) => keys.claimName({ ...record, publicId }, 20_000);
      expect([await claimed('another'), await claimed(keyRecord.publicId)]).toEqual([
        keyRecord.publicId,
        keyRecord.publicId,
      ]);
    });

    it('takes one of the places of its owner for each text that has not ended', async () => {
      const { keys, ids } = await rotatedTwice({ owner: 'ada' });
      const claim = (publicId: string, nowMs: number) =>
        keys.claimMemberSlot({ workspace: 'w', owner: 'ada', publicId, max: 3 }, nowMs);
      for (const id of ids) expect(await claim(id, 0)).toBe(true);
      expect([await claim('more', endMs - 1), await claim('more', endMs)]).toEqual([false, true]);
    });

    it('forgets the oldest of more than eight former texts', async () => {
      const keys = createKeyStore(database.store);
      const { record } = newKey();
      await keys.write(record);
      let publicId = record.publicId;
      for (let turn = 0; turn < 9; turn += 1) {
        const keyRecord = next();
        await keys.rotate((await keys.read(publicId)) as KeyRecord, keyRecord, endMs);
        publicId = keyRecord.publicId;
        expect((await keys.read(record.publicId)) === undefined).toBe(turn === 8);
      }
      expect(await keys.read(publicId)).toMatchObject({ name: 'ci', replacedBy: null });
    });
  });
});

const nowMs = 1_800_000_000_000;

describe('the settings of a key', () => {
  const item = {
    pk: 'abcdefghij012345',
    workspace: 'team',
    secret_sha256: 'a',
    name: 'ci',
    status: 'revoked',
    requests_per_minute: 7,
    tokens_per_minute: 9_000,
    concurrency: 3,
    spend_limit_usd: '2.50',
    spend_limit_reset: 'daily',
    expires_at_ms: nowMs,
    models: ['acme/large-1'],
    tags: { team: 'search' },
    content_log: { keep: '7d' },
    guardrails: ['words'],
    owner: 'ada@example.com',
  };

  it('are in the item under the names of former releases', () => {
    const record = readKeyRecord(item, item.pk);
    expect(record && itemOf(record)).toEqual(item);
  });

  it('are in a gateway file what they are in the store', () => {
    const { owner: _owner, ...settings } = readKeySettings(item);
    const writtenSettings = writtenKey(readKeySettings(item));
    expect(writtenSettings).toMatchObject({
      rpm: 7,
      spend_limit_usd: '2.50',
      expires_at: new Date(nowMs).toISOString(),
    });
    expect(writtenSettings).not.toHaveProperty('owner');
    expect(fromWrittenKey(writtenSettings)).toEqual(settings);
    expect(fromWrittenKey({ models: 'all', expires_at: null, tags: {}, guardrails: [] })).toEqual({
      guardrails: null,
      models: null,
      expiresAtMs: null,
      tags: null,
    });
  });
});

it('a key is valid up to, not including, its expiry, and for ever without one', () => {
  expect([nowMs - 1, nowMs, nowMs + 1].map((atMs) => isKeyExpired({ expiresAtMs: nowMs }, atMs))).toEqual([
    false,
    true,
    true,
  ]);
  expect(isKeyExpired({ expiresAtMs: null }, Number.MAX_SAFE_INTEGER)).toBe(false);
});
