import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { ApplyInterrupted, type ApplyReport } from '../../../shared/configuration/gateway-file/index.ts';
import { createApiKey, createKeyStore, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { type Store, StoreUnavailable } from '../../../shared/storage/store/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { applyTo, changed, planOn } from './applying.ts';
import { exampleKey, exampleText, spoiled } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const apply = (text: string, store: Store = database.store): Promise<ApplyReport> => applyTo(store, text);

const keyLine = `{ name: ci, key: ${exampleKey}, rpm: 60, spend_limit_usd: "5.00", status: active }`;

const keys = () => createKeyStore(database.store);
const publicIdOf = (key: string) => parseApiKey(key)?.publicId ?? '';

/** As `gw keys revoke` does. */
async function revoke(key: string): Promise<void> {
  const record = await keys().read(publicIdOf(key));
  if (record === undefined) throw new Error('there is no such key');
  await keys().write({ ...record, status: 'revoked' });
}

describe('keys', () => {
  it('that were rotated share a name: settings by name reach the one in use and bring no revoked one back', async () => {
    await apply(spoiled('status: active', 'status: revoked'));
    const inUse = createApiKey(systemRandomness);
    await apply(spoiled(exampleKey, inUse));
    expect(changed(await apply(spoiled(keyLine, '{ name: ci, rpm: 7 }')))).toEqual(['key ci of team-a: changed']);
    const keys = createKeyStore(database.store);
    expect(await keys.read(parseApiKey(inUse)?.publicId ?? '')).toMatchObject({ status: 'active', rpm: 7 });
    expect(await keys.read(parseApiKey(exampleKey)?.publicId ?? '')).toMatchObject({ status: 'revoked', rpm: 60 });
  });

  it('of another workspace are refused by their place, before anything is written', async () => {
    await apply(exampleText);
    const { store, writes } = countingWrites(database.store);
    const moved = spoiled('- id: team-a', '- id: team-z').replace('"2.50"', '"9.50"');
    await expect(apply(moved, store)).rejects.toThrow('workspaces[0].keys[0].key');
    expect(writes()).toBe(0);
  });

  it('made before the store failed are handed out with the failure', async () => {
    const failing: Store = {
      ...database.store,
      put: async (put) => {
        if (put.table === 'keys') throw new StoreUnavailable('down');
        return database.store.put(put);
      },
    };
    const failure = await apply(spoiled(keyLine, '{ name: ci }'), failing).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApplyInterrupted);
    const { report } = failure as ApplyInterrupted;
    expect(report.createdKeys).toHaveLength(1);
    expect(changed(report)).toEqual([
      'catalogue: created',
      'workspace team-a: created',
      'byok connection to acme of team-a: created',
      'function classify-ticket of team-a: created',
    ]);
  });
});

describe('a key that was revoked', () => {
  const given = `{ name: ci, key: ${exampleKey}, rpm: 60, spend_limit_usd: "5.00" }`;
  const named = '{ name: ci, rpm: 60, spend_limit_usd: "5.00" }';

  it('does not come back by its name when another one has it: nothing says which is meant, nothing is written', async () => {
    const other = createApiKey(systemRandomness);
    await apply(exampleText);
    await revoke(exampleKey);
    await apply(spoiled(exampleKey, other));
    await revoke(other);
    const { store, writes } = countingWrites(database.store);
    const text = spoiled('"2.50"', '"9.50"', spoiled(keyLine, '{ name: ci, status: active }'));
    await expect(apply(text, store)).rejects.toThrow('workspaces[0].keys[0].status: 2 keys of this name were revoked');
    expect(writes()).toBe(0);
  });

  it.each([keyLine, given, named])('while a file is being applied stays revoked: %#', async (line) => {
    await apply(exampleText);
    const revoking: Store = {
      ...database.store,
      put: async (put) => {
        if (put.table === 'config') await revoke(exampleKey);
        return database.store.put(put);
      },
    };
    const text = spoiled('"2.50"', '"2.60"', spoiled(keyLine, line.replace('rpm: 60', 'rpm: 5')));
    expect(changed(await apply(text, revoking))).toEqual(['catalogue: changed', 'key ci of team-a: changed']);
    expect(await keys().read(publicIdOf(exampleKey))).toMatchObject({ status: 'revoked', rpm: 5 });
  });
});

describe('the rules of a key', () => {
  const rules =
    ', expires_at: 2028-01-01, models: [acme/large-1], spend_limit_reset: monthly, tags: { team: search } }';
  const ruled = keyLine.replace(' }', rules);
  const item = () => database.store.get('keys', publicIdOf(exampleKey));
  const stored = {
    expires_at_ms: Date.UTC(2028, 0, 1),
    models: ['acme/large-1'],
    spend_limit_reset: 'monthly',
    tags: { team: 'search' },
  };

  it('are plain attributes of its item, null where a new key has none', async () => {
    await apply(spoiled(keyLine, ruled));
    expect(await item()).toMatchObject(stored);
    const made = await apply(spoiled(keyLine, '{ name: other }'));
    const other = await database.store.get('keys', publicIdOf(made.createdKeys[0]?.key ?? ''));
    expect(other).toMatchObject({ expires_at_ms: null, models: null, spend_limit_reset: null });
  });

  it('stay where a file leaves them out, change where it writes them, and null or all takes them away', async () => {
    await apply(spoiled(keyLine, ruled));
    const { store, writes } = countingWrites(database.store);
    expect(changed(await apply(exampleText, store))).toEqual([]);
    expect(writes()).toBe(0);
    const none = keyLine.replace(' }', ', expires_at: null, models: all, spend_limit_reset: null, tags: {} }');
    const plan = await planOn(database.store, spoiled(keyLine, none));
    expect(plan.changes.flatMap(({ members }) => members)).toEqual([
      { path: 'spend_limit_reset', from: 'monthly', to: null },
      { path: 'expires_at', from: '2028-01-01T00:00:00.000Z', to: null },
      { path: 'models', from: ['acme/large-1'], to: 'all' },
      { path: 'tags.team', from: 'search' },
    ]);
    await plan.apply();
    expect(await item()).toMatchObject({ expires_at_ms: null, models: null, spend_limit_reset: null, tags: null });
  });
});
