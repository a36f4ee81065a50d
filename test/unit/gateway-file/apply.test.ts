import { afterEach, beforeEach, describe, expect, it } from '#jest';
import type { ApplyReport } from '../../../shared/configuration/gateway-file/index.ts';
import { createKeyStore, parseApiKey } from '../../../shared/configuration/keys/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { applyTo, changed, storesOn } from './applying.ts';
import { exampleKey, exampleText, spoiled } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const apply = (text: string, store: Store = database.store): Promise<ApplyReport> => applyTo(store, text);

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
