// Costs of a call in the file, from the request to its record.
import { expect, it } from '#jest';
import { type Harness, hello, startHarness } from '../../support/harness.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startTestStore } from '../../support/test-store.ts';
import { transactionsOf } from './support.ts';

const limits = { rpm: 1_000, concurrency: 100, spend_limit_usd: '10' };

async function call(gateway: Harness): Promise<void> {
  const response = await gateway.post(hello('acme/paid'));
  expect(response.status).toBe(200);
  await response.text();
  await gateway.settled();
}

it('a call with every limit is two transactions where slots are free: one takes what it needs, one charges, releases and records it', async () => {
  const folder = temporaryFolder();
  const gateway = await startHarness({
    testStore: await startTestStore(folder),
    models: {
      'acme/paid': [
        { provider: 'acme', upstream: 'usage:1000:500', more: { rate_limit_rpm: 1_000, rate_limit_tpm: 1_000_000 } },
      ],
    },
    key: limits,
    workspace: { concurrency: 100, spend_limit_usd: '10' },
  });
  // The first one reads what the process does not know yet.
  await call(gateway);
  expect(await transactionsOf(folder, () => call(gateway))).toBe(2);
  expect(await gateway.records()).toHaveLength(2);
  await gateway.stop();
});

it('a record is asked for behind every charge of its call, so that no transaction has it without them', async () => {
  const tables: string[] = [];
  const gateway = await startHarness({
    testStore: await startTestStore(temporaryFolder()),
    models: { 'acme/paid': [{ provider: 'acme', upstream: 'usage:1000:500' }] },
    key: limits,
    workspace: { spend_limit_usd: '10' },
    wrapStore: (store) => ({
      ...store,
      update: (update, options) => {
        tables.push(update.table);
        return store.update(update, options);
      },
      batchPut: (puts, options) => {
        tables.push(...puts.map(({ table }) => table));
        return store.batchPut(puts, options);
      },
    }),
  });
  await call(gateway);
  // Two writes hold, two charge.
  expect(tables.filter((table) => ['keys', 'ledger', 'records'].includes(table))).toEqual([
    ...['keys', 'ledger'],
    ...['keys', 'ledger'],
    'records',
  ]);
  await gateway.stop();
});
