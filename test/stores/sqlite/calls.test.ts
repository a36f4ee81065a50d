// What a call writes into the file, from the request to its record.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '#jest';
import { type Store, StoreUnavailable, type TransactionItems } from '../../../shared/storage/store/index.ts';
import { expectBalancedBooks } from '../../support/balanced-books.ts';
import { newKey } from '../../support/gateway-file.ts';
import { type Harness, hello, startHarness } from '../../support/harness.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startTestStore } from '../../support/test-store.ts';
import { transactionsOf } from './support.ts';

const limits = { rpm: 1_000, concurrency: 100, spend_limit_usd: '10' };

async function call(gateway: Harness, headers?: Record<string, string>): Promise<void> {
  const response = await gateway.post(hello('acme/paid'), headers);
  expect(response.status).toBe(200);
  await response.text();
  await gateway.settled();
}

it('a call with every limit is two transactions if slots are free: one takes what it needs, one charges, releases and records it', async () => {
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
  // The first call reads the data that the process does not have yet.
  await call(gateway);
  expect(await transactionsOf(folder, () => call(gateway))).toBe(2);
  expect(await gateway.records()).toHaveLength(2);
  await gateway.stop();
});

describe('the charges of a call and its record', () => {
  /** The tables that each transaction wrote, with the attributes that it added to in brackets. */
  const transactions: string[][] = [];
  /** Replacements for the store's next transactions, in their order; without one a transaction runs normally. */
  const faults: ((run: () => Promise<unknown>) => Promise<unknown>)[] = [];
  let gateway: Harness;
  const narrowKey = newKey();

  function watchedStore(store: Store): Store {
    const { transact } = store;
    if (transact === undefined) throw new Error('this store has transactions');
    return {
      ...store,
      transact: <Value>(work: (items: TransactionItems) => Value) => {
        const change = () =>
          transact((items) => {
            const writes: string[] = [];
            transactions.push(writes);
            return work({
              ...items,
              update(update) {
                writes.push(`${update.table} (${Object.keys(update.changes.add ?? {}).filter(isSum)})`);
                return items.update(update);
              },
              put(put) {
                writes.push(put.table);
                return items.put(put);
              },
            });
          });
        const fault = faults.shift();
        return fault === undefined ? change() : (fault(change) as Promise<Value>);
      },
    };
  }
  const isSum = (attribute: string) => attribute === 'spent_pico_usd' || attribute === 'balance_slots';
  const settlement = ['keys (balance_slots,spent_pico_usd)', 'ledger (spent_pico_usd)', 'records'];
  const unavailable = new StoreUnavailable(new Error('no answer'));
  /** Returns the key's spending and its number of records, and checks that both agree. */
  async function spent(): Promise<{ readonly records: number; readonly byKey: bigint }> {
    const byKey = BigInt((await gateway.keyItem()).spent_pico_usd as number);
    expect(await expectBalancedBooks(gateway)).toBe(byKey);
    return { records: (await gateway.records()).length, byKey };
  }

  beforeAll(async () => {
    gateway = await startHarness({
      models: { 'acme/paid': [{ provider: 'acme', upstream: 'usage:1000:500' }] },
      key: limits,
      workspace: { spend_limit_usd: '10' },
      moreWorkspaces: [
        { id: 'narrow', credit_usd: '10', keys: [{ name: 'narrow', key: narrowKey, ...limits, concurrency: 2 }] },
      ],
      wrapStore: watchedStore,
    });
    await call(gateway);
  });
  afterAll(() => gateway.stop());
  beforeEach(() => void transactions.splice(0));

  it('are one transaction', async () => {
    await call(gateway);
    expect(transactions).toEqual([settlement]);
  });

  it('are one if a slot that others wait for was free before', async () => {
    await call(gateway, { authorization: `Bearer ${narrowKey}` });
    expect(transactions).toEqual([
      ['keys (balance_slots)'],
      ['keys (spent_pico_usd)', 'ledger (spent_pico_usd)', 'records'],
    ]);
    for await (const item of gateway.testStore.store.scan('keys')) expect(Number(item.balance_slots ?? 0)).toBe(0);
  });

  it.each([
    ['none of which was made, are made together', () => Promise.reject(unavailable), 1],
    [
      'whose answer was lost, count once',
      (run: () => Promise<unknown>) => run().then(() => Promise.reject(unavailable)),
      1,
    ],
  ])('%s', async (_name, fault, runCount) => {
    const before = await spent();
    const price = before.byKey / BigInt(before.records);
    transactions.splice(0);
    faults.push(fault);
    await call(gateway);
    expect(transactions).toEqual(Array(runCount).fill(settlement));
    expect(await spent()).toEqual({ records: before.records + 1, byKey: before.byKey + price });
  });
});
