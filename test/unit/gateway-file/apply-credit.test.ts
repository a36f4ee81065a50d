import { afterEach, beforeEach, describe, expect, it } from '#jest';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import { countingWrites } from '../../support/counting-writes.ts';
import { startTestStore, type TestStore } from '../../support/dynamodb.ts';
import { applyTo, changed, creditOn, planOn, storesOn } from './applying.ts';
import { exampleText, spoiled } from './example-file.ts';

let database: TestStore;
beforeEach(async () => {
  database = await startTestStore();
});
afterEach(() => database.stop());

const creditLine = 'credit_usd: "25.00"';
const withShards = (shards: number, text = exampleText) =>
  spoiled(creditLine, `${creditLine}\n    credit_shards: ${shards}`, text);

const usd = (amount: string) => parseUsd(amount) ?? 0n;
const nowMs = 1_800_000_000_000;
const newHold = (owner: string, amount: string) => ({ owner, amount: usd(amount), expiresAtMs: nowMs + 70_000 });

/** What the ledger is asked when a call of the workspace is admitted. */
async function accountOf(workspace: string) {
  const document = await storesOn(database.store).workspaceStore.read(workspace);
  return { workspace, spendLimit: null, shards: document?.credit_shards };
}

/** A call that meets the last of four shards empty: half of the credit moves there when it ends. */
async function spreadCredit(workspace: string): Promise<void> {
  const toTheLast = { ...systemRandomness, fraction: () => 0.99 };
  const ledger = creditOn(database.store, toTheLast);
  const take = await ledger.take(await accountOf(workspace), newHold('first', '1'));
  if (take.kind !== 'taken') throw new Error('there is credit');
  await ledger.release(take.hold);
  const last = await database.store.get('ledger', `CREDIT#${workspace}#3`);
  expect(last).toMatchObject({ balance_pico_usd: 12_500_000_000_000 });
}

describe('the credit shards of a workspace', () => {
  it('stay when a file names no number: all the credit in them can still be spent, and nothing is written', async () => {
    await applyTo(database.store, withShards(4));
    await spreadCredit('team-a');
    const { store, writes } = countingWrites(database.store);
    expect(changed(await applyTo(store, exampleText))).toEqual([]);
    expect(writes()).toBe(0);
    const { credit } = storesOn(database.store);
    const account = await accountOf('team-a');
    expect(await credit.show(account)).toMatchObject({ granted: usd('25'), available: usd('25') });
    expect(await credit.take(account, newHold('all', '25'))).toMatchObject({ kind: 'taken' });
  });

  it('stay beside what the file does change, and a dry run shows only that', async () => {
    await applyTo(database.store, withShards(4));
    const text = spoiled('spend_limit_usd: null', 'spend_limit_usd: "9"');
    const plan = await planOn(database.store, text);
    const [workspace] = plan.changes.filter(({ change }) => change !== 'unchanged');
    expect(workspace?.members).toEqual([{ path: 'spend_limit_usd', from: null, to: '9' }]);
    await applyTo(database.store, text);
    expect(await accountOf('team-a')).toMatchObject({ shards: 4 });
    expect(changed(await planOn(database.store, text))).toEqual([]);
  });

  it('may grow, also from the one of a workspace that names none', async () => {
    await applyTo(database.store, exampleText);
    for (const shards of [2, 32]) {
      expect(changed(await applyTo(database.store, withShards(shards)))).toEqual(['workspace team-a: changed']);
      expect(await accountOf('team-a')).toMatchObject({ shards });
    }
  });

  it('never become fewer: the file is refused before anything of it is written, and by its dry run', async () => {
    await applyTo(database.store, withShards(4));
    await spreadCredit('team-a');
    const cheaper = spoiled('"2.50"', '"2.40"', withShards(3));
    const text = spoiled('workspaces:', 'workspaces:\n  - { id: another, keys: [{ name: new }] }', cheaper);
    const { store, writes } = countingWrites(database.store);
    const refusal = 'workspace team-a has its credit in 4 shards, and the file says credit_shards: 3';
    await expect(planOn(store, text)).rejects.toThrow(refusal);
    await expect(applyTo(store, text)).rejects.toThrow(refusal);
    expect(writes()).toBe(0);
    expect(changed(await applyTo(store, withShards(4)))).toEqual([]);
    expect(await storesOn(store).workspaceStore.read('another')).toBeUndefined();
  });
});
