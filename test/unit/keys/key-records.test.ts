import { afterAll, beforeAll, describe, expect, it } from '#jest';
import {
  createApiKey,
  createKeyStore,
  fromWrittenKey,
  isKeyExpired,
  type KeyRecord,
  parseApiKey,
  readKeyRecord,
  readKeySettings,
  writtenKey,
} from '../../../shared/configuration/keys/index.ts';
import { itemOf } from '../../../shared/configuration/keys/key-record.ts';
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
    const rules = { expiresAtMs: null, models: null, spendLimitReset: null, tags: null, owner: null, replacedBy: null };
    const limits = { rpm: null, concurrency: null, spendLimitUsd: null };
    const settings = { workspace: 'w', name: 'ci', status: 'active', ...limits } as const;
    return { text, record: { ...parsed, ...settings, ...rules, ...more } };
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

    it('are one key where several operators write it at once, with what it has counted', async () => {
      const keys = createKeyStore(database.store);
      const hasReadBefore = createKeyStore({ ...database.store, get: async () => undefined });
      const { record } = newKey();
      await keys.write(record, { spent_pico_usd: 42n });
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

    it('that is claimed waits ten seconds for its key, and is free again where none came', async () => {
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
    concurrency: 3,
    spend_limit_usd: '2.50',
    spend_limit_reset: 'daily',
    expires_at_ms: nowMs,
    models: ['acme/large-1'],
    tags: { team: 'search' },
    owner: 'ada@example.com',
    replaced_by: 'abcdefghij012346',
  };

  it('stand in the item under the names of former releases', () => {
    expect(itemOf(readKeyRecord(item))).toEqual(item);
  });

  it('are in a gateway file what they are in the store', () => {
    const { replacedBy: _replacedBy, owner: _owner, ...settings } = readKeySettings(item);
    const written = writtenKey(readKeySettings(item));
    expect(written).toEqual({
      name: 'ci',
      status: 'revoked',
      rpm: 7,
      concurrency: 3,
      spend_limit_usd: '2.50',
      spend_limit_reset: 'daily',
      expires_at: new Date(nowMs).toISOString(),
      models: ['acme/large-1'],
      tags: { team: 'search' },
    });
    expect(fromWrittenKey(written)).toEqual(settings);
    expect(fromWrittenKey({ models: 'all', expires_at: null, tags: {} })).toEqual({
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
