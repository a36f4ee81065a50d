import { describe, expect, it } from '#jest';
import {
  authenticate,
  createApiKey,
  isKeyExpired,
  type KeyRecord,
  parseApiKey,
  readKeyRules,
} from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';

const nowMs = 1_800_000_000_000;
const none = { expiresAtMs: null, models: null, spendLimitReset: null };

describe('the rules in the item of a key', () => {
  it('are none where the attributes are absent, as in keys of former releases, or null', () => {
    expect(readKeyRules({ pk: 'a' })).toEqual(none);
    expect(readKeyRules({ pk: 'a', expires_at_ms: null, models: null, spend_limit_reset: null })).toEqual(none);
  });

  it('are read as they are stored', () => {
    const item = { pk: 'a', expires_at_ms: nowMs, models: ['acme/large-1'], spend_limit_reset: 'weekly' };
    expect(readKeyRules(item)).toEqual({ expiresAtMs: nowMs, models: ['acme/large-1'], spendLimitReset: 'weekly' });
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
