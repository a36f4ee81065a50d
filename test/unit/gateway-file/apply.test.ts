import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createApiKey, createKeyStore, parseApiKey } from '../../../shared/auth/index.ts';
import { createConnectionStore, createKeyVault, localKeyWrapper } from '../../../shared/byok/index.ts';
import { createCatalogueStore } from '../../../shared/catalogue/index.ts';
import { createCreditLedger } from '../../../shared/credit/index.ts';
import { ApplyInterrupted, type ApplyReport, applyGatewayFile } from '../../../shared/gateway-file/index.ts';
import { systemRandomness } from '../../../shared/ids/index.ts';
import { type Store, StoreUnavailable } from '../../../shared/store/index.ts';
import { createFunctionStore } from '../../../shared/stored-functions/index.ts';
import { systemClock } from '../../../shared/time/index.ts';
import { createWorkspaceStore } from '../../../shared/workspaces/index.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { countingWrites } from '../catalogue/counting-writes.ts';
import { exampleKey, exampleText, fileOf, spoiled } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const vault = createKeyVault({
  wrapper: localKeyWrapper(),
  stage: 'test',
  clock: systemClock,
  randomness: systemRandomness,
});

const storesOn = (store: Store) => ({
  catalogues: createCatalogueStore(store),
  workspaceStore: createWorkspaceStore(store),
  keys: createKeyStore(store),
  credit: createCreditLedger({ store, randomness: systemRandomness }),
  connectionStore: createConnectionStore(store, vault),
  functionStore: createFunctionStore(store),
});

const apply = (text: string, store: Store = database.store): Promise<ApplyReport> =>
  applyGatewayFile({
    file: fileOf(text),
    stores: storesOn(store),
    readVariable: (name) => (name === 'ACME_BYOK' ? 'acme-key-of-the-workspace' : undefined),
    randomness: systemRandomness,
    nowMs: 1_800_000_000_000,
  });

const changed = ({ changes }: ApplyReport) =>
  changes.filter(({ change }) => change !== 'unchanged').map(({ resource, change }) => `${resource}: ${change}`);

const keyLine = `{ name: ci, key: ${exampleKey}, rpm: 60, spend_limit_usd: "5.00", status: active }`;

describe('applying a file', () => {
  it('twice writes nothing the second time', async () => {
    const report = await apply(exampleText);
    expect(changed(report)).toEqual([
      'catalogue: created',
      'workspace team-a: created',
      'byok connection to acme of team-a: created',
      'function classify-ticket of team-a: created',
      'key ci of team-a: created',
    ]);
    const { store, writes } = countingWrites(database.store);
    expect(changed(await apply(exampleText, store))).toEqual([]);
    expect(writes()).toBe(0);
  });

  it('with a changed price changes only the catalogue', async () => {
    await apply(exampleText);
    expect(changed(await apply(spoiled('"2.50"', '"2.60"')))).toEqual(['catalogue: changed']);
  });

  it('with a changed limit of a key changes only that key', async () => {
    await apply(exampleText);
    expect(changed(await apply(spoiled('rpm: 60,', 'rpm: 61,')))).toEqual(['key ci of team-a: changed']);
    expect(changed(await apply(spoiled('status: active', 'status: revoked')))).toEqual(['key ci of team-a: changed']);
    const publicId = parseApiKey(exampleKey)?.publicId ?? '';
    expect(await createKeyStore(database.store).read(publicId)).toMatchObject({ status: 'revoked', rpm: 60 });
  });

  it('leaves workspaces and keys alone that it does not name', async () => {
    await apply(exampleText);
    const other = exampleText.slice(0, exampleText.indexOf('workspaces:'));
    expect(changed(await apply(`${other}workspaces: [{ id: team-b }]`))).toEqual(['workspace team-b: created']);
    const stores = storesOn(database.store);
    expect(await stores.workspaceStore.read('team-a')).toBeDefined();
    expect(await stores.keys.read(parseApiKey(exampleKey)?.publicId ?? '')).toBeDefined();
  });
});

describe('keys', () => {
  it('without a text are made once, handed out once and stored only hashed', async () => {
    const text = spoiled(keyLine, '{ name: ci, rpm: 60 }');
    const { createdKeys } = await apply(text);
    expect(createdKeys).toHaveLength(1);
    const key = createdKeys[0]?.key ?? '';
    const { publicId = '', secretSha256 } = parseApiKey(key) ?? {};
    expect(await createKeyStore(database.store).read(publicId)).toMatchObject({
      workspace: 'team-a',
      name: 'ci',
      secretSha256,
    });
    const dump = await database.dumpTables();
    expect(dump).not.toContain(key);
    expect(dump).not.toContain(key.slice(-49, -6));

    const again = await apply(text);
    expect([again.createdKeys, changed(again)]).toEqual([[], []]);
    expect(changed(await apply(text.replace('rpm: 60 }', 'rpm: 5 }')))).toEqual(['key ci of team-a: changed']);
    expect(await createKeyStore(database.store).read(publicId)).toMatchObject({ rpm: 5 });
  });

  it('that were rotated share a name: settings by name reach the one in use and bring no revoked one back', async () => {
    await apply(spoiled('status: active', 'status: revoked'));
    const inUse = createApiKey(systemRandomness);
    await apply(spoiled(exampleKey, inUse));
    expect(changed(await apply(spoiled(keyLine, '{ name: ci, rpm: 7 }')))).toEqual(['key ci of team-a: changed']);
    const keys = createKeyStore(database.store);
    expect(await keys.read(parseApiKey(inUse)?.publicId ?? '')).toMatchObject({ status: 'active', rpm: 7 });
    expect(await keys.read(parseApiKey(exampleKey)?.publicId ?? '')).toMatchObject({ status: 'revoked', rpm: 60 });
  });

  it('with a text are stored only hashed', async () => {
    await apply(exampleText);
    const dump = await database.dumpTables();
    expect(dump).not.toContain(exampleKey);
    expect(dump).not.toContain(exampleKey.slice(-49, -6));
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
