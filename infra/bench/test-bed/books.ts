// Books of a workspace after its calls: records, keys and credit must agree.
import { createAdministration, readCredits, readKeys } from '../../../shared/configuration/administration/index.ts';
import { systemRandomness } from '../../../shared/foundation/ids/index.ts';
import { systemClock } from '../../../shared/foundation/time/index.ts';
import type { Store } from '../../../shared/storage/store/index.ts';

export interface Books {
  /** Number of recorded calls, and their cost. */
  readonly calls: number;
  readonly recorded: bigint;
  /** Spending of all keys, each of which has a spend limit. */
  readonly keysSpent: bigint;
  readonly workspaceSpent: bigint;
  /** Reservations of running or abandoned calls, on credit and keys. */
  readonly held: bigint;
}

const dayMs = 86_400_000;

export async function readBooks(store: Store, workspace: string): Promise<Books> {
  const deps = createAdministration({ store, clock: systemClock, randomness: systemRandomness });
  const costs: bigint[] = [];
  // A run may last past midnight.
  for (const days of [-1, 0]) {
    const day = new Date(systemClock.nowMs() + days * dayMs).toISOString().slice(0, 10);
    for await (const { costPicoUsd } of deps.records.read(workspace, day)) costs.push(costPicoUsd);
  }
  const sum = (amounts: readonly (bigint | null)[]) => amounts.reduce<bigint>((total, one) => total + (one ?? 0n), 0n);
  const keys = await readKeys(deps, workspace);
  const [credit] = await readCredits(deps, workspace);
  return {
    calls: costs.length,
    recorded: sum(costs),
    keysSpent: sum(keys.map(({ spent }) => spent)),
    workspaceSpent: credit?.summary.spent ?? -1n,
    held: (credit?.summary.held ?? -1n) + sum(keys.map(({ held }) => held)),
  };
}

export const areExact = ({ recorded, keysSpent, workspaceSpent, held }: Books): boolean =>
  recorded === keysSpent && recorded === workspaceSpent && held === 0n;
