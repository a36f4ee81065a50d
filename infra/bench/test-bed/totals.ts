// Reads the totals of a workspace after its calls. The costs of its records, its keys and its credit must agree.
import { createAdministration, readCredits, readKeys } from '../../../shared/configuration/administration/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';

export interface Totals {
  /** Number of recorded calls, and their cost. */
  readonly calls: number;
  readonly recordedCost: bigint;
  /** Spending of all keys, each of which has a spend limit. */
  readonly keysSpent: bigint;
  readonly workspaceSpent: bigint;
  /** Reservations of running or abandoned calls, on credit and keys. */
  readonly reserved: bigint;
}

const dayMs = 86_400_000;

export async function readTotals(store: Store, workspace: string): Promise<Totals> {
  const deps = createAdministration({ store, clock: systemClock, randomness: systemRandomness });
  const costs: bigint[] = [];
  // A run may last past midnight.
  for (const days of [-1, 0]) {
    const day = new Date(systemClock.nowMs() + days * dayMs).toISOString().slice(0, 10);
    for await (const { costPicoUsd } of deps.records.read(workspace, day)) costs.push(costPicoUsd);
  }
  const sum = (amounts: readonly (bigint | null)[]) =>
    amounts.reduce<bigint>((total, amount) => total + (amount ?? 0n), 0n);
  const keys = await readKeys(deps, workspace);
  const [credit] = await readCredits(deps, workspace);
  return {
    calls: costs.length,
    recordedCost: sum(costs),
    keysSpent: sum(keys.map(({ spent }) => spent)),
    workspaceSpent: credit?.summary.spent ?? -1n,
    reserved: (credit?.summary.held ?? -1n) + sum(keys.map(({ held }) => held)),
  };
}

export const totalsMatch = ({ recordedCost: recorded, keysSpent, workspaceSpent, reserved: held }: Totals): boolean =>
  recorded === keysSpent && recorded === workspaceSpent && held === 0n;
