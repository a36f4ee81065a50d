import { describe, expect, it } from '#jest';
import {
  authenticate,
  createApiKey,
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

const nowMs = 1_800_000_000_000;
const none = { expiresAtMs: null, models: null, spendLimitReset: null };

describe('the rules in the item of a key', () => {
  it('are none where the attributes are absent, as in keys of former releases, or null', () => {
    expect(readKeySettings({ pk: 'a' })).toMatchObject(none);
    expect(readKeySettings({ pk: 'a', expires_at_ms: null, models: null, spend_limit_reset: null })).toMatchObject(
      none,
    );
  });

  it('are read as they are stored', () => {
    const item = { pk: 'a', expires_at_ms: nowMs, models: ['acme/large-1'], spend_limit_reset: 'weekly' };
    expect(readKeySettings(item)).toMatchObject({
      expiresAtMs: nowMs,
      models: ['acme/large-1'],
      spendLimitReset: 'weekly',
    });
  });
});

describe('the settings of a key', () => {
  const item = {
    pk: 'abcdefghij012345',
    workspace: 'team',
    secret_sha256: 'a',
    name: 'ci',
    status: 'revoked',
    requests_per_minute: 7,
    spend_limit_usd: '2.50',
    spend_limit_reset: 'daily',
    expires_at_ms: nowMs,
    models: ['acme/large-1'],
    replaced_by: 'abcdefghij012346',
  };

  it('stand in the item under the names of former releases', () => {
    expect(itemOf(readKeyRecord(item))).toEqual(item);
  });

  it('are in a gateway file what they are in the store', () => {
    const { replacedBy: _replacedBy, ...settings } = readKeySettings(item);
    const written = writtenKey(readKeySettings(item));
    expect(written).toEqual({
      name: 'ci',
      status: 'revoked',
      rpm: 7,
      spend_limit_usd: '2.50',
      spend_limit_reset: 'daily',
      expires_at: new Date(nowMs).toISOString(),
      models: ['acme/large-1'],
    });
    expect(fromWrittenKey(written)).toEqual(settings);
    expect(fromWrittenKey({ models: 'all', expires_at: null })).toEqual({ models: null, expiresAtMs: null });
  });

  it('of an item without a status make no active key', () => {
    expect(readKeySettings({ pk: 'a', name: 'ci' }).status).toBeUndefined();
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

describe('authentication', () => {
  const credential = parseApiKey(createApiKey(systemRandomness));
  if (credential === undefined) throw new Error('a created key must parse');
  const record: KeyRecord = {
    ...credential,
    ...none,
    workspace: 'w',
    name: 'n',
    status: 'active',
    rpm: null,
    spendLimitUsd: null,
    replacedBy: null,
  };
  const authenticated = (stored: KeyRecord | undefined) =>
    authenticate({ read: async () => stored }, credential, nowMs).catch(({ code }: { code: string }) => code);

  it('gives the record of an active key', async () => {
    expect(await authenticated(record)).toBe(record);
    expect(await authenticated({ ...record, expiresAtMs: nowMs + 1 })).toMatchObject({ name: 'n' });
  });

  it.each<[string, KeyRecord | undefined]>([
    ['unknown', undefined],
    ['of another secret', { ...record, secretSha256: '0'.repeat(64) }],
    ['revoked', { ...record, status: 'revoked' }],
    ['expired', { ...record, expiresAtMs: nowMs }],
  ])('refuses a key that is %s with UNAUTHORIZED', async (_title, stored) => {
    expect(await authenticated(stored)).toBe('UNAUTHORIZED');
  });
});
