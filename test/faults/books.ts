// Totals after a storm. Every figure comes from the tables; the witness knows the requests to the store.
import { type HeldAmount, readAmount, readHeldAmounts } from '../../shared/accounting/holds/index.ts';
import { parseUsd } from '../../shared/foundation/money/index.ts';
import type { Item } from '../../shared/storage/store/index.ts';
import { readRecords } from '../support/read-records.ts';
import { keyNames, workspaceOf } from './fault-file.ts';
import type { FaultHarness } from './fault-harness.ts';

export const workspaces: readonly string[] = [...new Set(keyNames.map((name) => workspaceOf[name]))];

/** Returns the items with holds, by their keys. */
async function readCounters({ operator }: FaultHarness): Promise<ReadonlyMap<string, Item>> {
  const counters = new Map<string, Item>();
  for (const table of ['ledger', 'keys'] as const) {
    for await (const item of operator.store.scan(table)) counters.set(String(item.pk), item);
  }
  return counters;
}

/**
 * 1. Conservation, at every moment: in each counter balance + held + spent is the amount that was put in; for a
 * workspace, over all its shards and transfers between them. The number of free and taken slots is constant.
 */
export async function brokenSums(harness: FaultHarness): Promise<readonly string[]> {
  const imbalances: string[] = [];
  for (const [key, item] of await readCounters(harness)) {
    const slots = readAmount(item.balance_slots) + slotsHeldIn(key, item);
    if (slots !== 0n) imbalances.push(`${key}: ${slots} slots more than there were`);
    if (key.startsWith('CREDIT#') || isPool(key)) continue;
    const sum = readAmount(item.balance_pico_usd) + heldIn(item) + readAmount(item.spent_pico_usd);
    if (sum !== 0n) imbalances.push(`${key}: ${sum} more than was put in`);
  }
  for (const workspace of workspaces) {
    const { granted, available, held, spent } = await showCredit(harness, workspace);
    if (granted !== available + held + spent)
      imbalances.push(`${workspace}: ${granted} ≠ ${available} + ${held} + ${spent}`);
  }
  return imbalances;
}

/**
 * 2. No workspace has spent and reserved more than its credit or limit allows: no call of the suite costs more than it
 * reserved.
 */
export async function overspent(harness: FaultHarness): Promise<readonly string[]> {
  const found: string[] = [];
  for (const workspace of workspaces) {
    const { available, held, spent } = await showCredit(harness, workspace);
    const limit = parseUsd((await harness.operator.workspaceStore.read(workspace))?.spend_limit_usd ?? '') ?? null;
    if (available < 0n) found.push(`${workspace}: ${available}`);
    if (limit !== null && held + spent > limit) found.push(`${workspace}: ${held} + ${spent} of ${limit}`);
  }
  for await (const item of harness.operator.store.scan('keys')) {
    const limit = parseUsd(String(item.spend_limit_usd));
    if (limit !== undefined && heldIn(item) + readAmount(item.spent_pico_usd) > limit) found.push(String(item.name));
  }
  return found;
}

const sumHeld = (reservations: readonly HeldAmount[]): bigint =>
  reservations.reduce((sum, { amount }) => sum + amount, 0n);
const heldIn = (item: Item): bigint => sumHeld(readHeldAmounts(item));

/** Returns whether the item is a pool, whose holds are slots; other items have slots beside the money. */
const isPool = (key: string): boolean => /^(SLOTS|CALLS|SERVICECALLS)/.test(key);
const slotsHeldIn = (key: string, item: Item): bigint =>
  sumHeld(readHeldAmounts(item, isPool(key) ? 'held' : 'heldSlots'));

export async function showCredit({ operator }: FaultHarness, workspace: string) {
  const document = await operator.workspaceStore.read(workspace);
  return operator.credit.show({ workspace, spendLimit: null, shards: document?.credit_shards });
}

/** 3. Holds and slots that remain, and their items. */
export async function standingHolds(harness: FaultHarness): Promise<readonly string[]> {
  const counters = await readCounters(harness);
  return [...counters].flatMap(([key, item]) =>
    [...readHeldAmounts(item), ...readHeldAmounts(item, 'heldSlots')].flatMap(({ amount }) =>
      amount > 0n ? [`${key} ${amount}`] : [],
    ),
  );
}

export interface Accounts {
  /** Calls that were settled twice; there must be none. */
  readonly twice: readonly string[];
  /** The spent credit that answered and unanswered settlements do not explain; it must be zero. */
  readonly unexplained: bigint;
  /** Calls whose record has another cost than their settlement; there must be none. */
  readonly different: readonly string[];
  /** Calls that were settled with a cost but not recorded, or the reverse, because they could not be finished. */
  readonly incomplete: readonly string[];
  readonly recorded: bigint;
  readonly spent: bigint;
}

/** 4. Call records are compared with the credit of a workspace, owner by owner. */
export async function readAccounts(harness: FaultHarness, workspace: string): Promise<Accounts> {
  const costs = new Map<string, bigint>();
  for (const record of await readRecords(harness.operator, workspace)) {
    if (!record.isByok) costs.set(record.executionId, record.costPicoUsd);
  }
  const settlements = harness.witness.settlements().filter((settlement) => settlement.workspace === workspace);
  const charges = new Map(
    settlements.filter(({ isAnswered }) => isAnswered).map(({ owner, actual }) => [owner, actual]),
  );
  const least = sumOf([...charges.values()]);
  const most = sumOf(settlements.map(({ actual }) => actual));
  const { spent } = await showCredit(harness, workspace);
  const owners = [...new Set([...costs.keys(), ...charges.keys()])];
  return {
    twice: harness.witness.twice,
    unexplained: spent < least ? spent - least : spent > most ? spent - most : 0n,
    different: owners.filter((owner) => {
      const [cost, actual] = [costs.get(owner), charges.get(owner)];
      return cost !== undefined && actual !== undefined && cost !== actual;
    }),
    incomplete: owners.filter((owner) => (costs.get(owner) ?? 0n) !== (charges.get(owner) ?? 0n)),
    recorded: sumOf([...costs.values()]),
    spent,
  };
}

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);
