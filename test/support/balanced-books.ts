import { expect } from '#jest';
import type { Item } from '../../shared/storage/store/index.ts';
import type { Harness } from './harness.ts';

/**
 * Checks that after every call, however it ended, nothing is reserved, no money was created or lost, and the records
 * that credit paid for add up to the spending. Returns the spending.
 */
export async function expectBalancedBooks(harness: Harness, workspace = 'team'): Promise<bigint> {
  const spent = await expectBalancedAccount(harness, workspace);
  await expectBalancedTables(harness);
  return spent;
}

/**
 * Checks the same for one workspace, without reading every item: for suites of many workspaces, which check the tables
 * at their end.
 */
export async function expectBalancedAccount(harness: Harness, workspace: string): Promise<bigint> {
  // A record is written after the charge of its call.
  await harness.settled();
  const { granted, available, spent, held, expired } = await harness.credit(workspace);
  expect({ held, expired }).toEqual({ held: 0n, expired: 0n });
  expect(granted).toBe(available + spent);
  const records = await harness.records(workspace);
  expect(records.filter(({ isByok }) => !isByok).reduce((sum, record) => sum + record.costPicoUsd, 0n)).toBe(spent);
  return spent;
}

/** Checks the same for every item of money. */
export async function expectBalancedTables(harness: Harness): Promise<void> {
  for (const table of ['keys', 'ledger'] as const) {
    for await (const item of harness.testStore.store.scan(table)) {
      expect(liveHolds(item)).toEqual([]);
      if (item.balance_pico_usd === undefined || item.granted_pico_usd !== undefined) continue;
      expect(BigInt(item.balance_pico_usd as number) + BigInt((item.spent_pico_usd as number) ?? 0)).toBe(0n);
    }
  }
}

const liveHolds = (item: Item) =>
  Object.entries(item).filter(
    ([name, hold]) => name.startsWith('hold#') && BigInt((hold as { amount: number }).amount) > 0n,
  );
