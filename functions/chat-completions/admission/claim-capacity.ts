// Concurrency of functions (spec 8): a slot of the workspace and one of the service. A slot is a hold of amount 1, so an
// instance that dies gives it back with its lease. It is given back when the execution ends, before the client hears of
// it: its next call must not meet it.

import { type Counter, type Hold, settleHold, takeHold } from '../../../shared/accounting/holds/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { leaseMs } from '../../../shared/foundation/constants/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type Claim, granted, heard, refused } from './claim.ts';

export type CapacityClaim = Claim & { readonly giveBack?: () => Promise<void> };

/** Functions run for seconds, so whoever waits longer waits too long. */
const retryAfterSeconds = 1;

export async function claimCapacity(
  deps: ChatDependencies,
  { workspace, catalogue, arrivedAtMs }: IdentifiedCall,
  owner: string,
): Promise<CapacityClaim> {
  const counters = [
    slots(`SLOTS#${workspace.id}`, workspace.function_concurrency),
    slots('SLOTS', catalogue.service.function_concurrency),
  ].filter((counter) => counter !== undefined);
  const hold = { owner, amount: 1n, expiresAtMs: arrivedAtMs + leaseMs };
  // All of them: a take whose answer was lost may have been done.
  return heard('capacity', takeSlots(deps, counters, hold), () => giveSlotsBack(deps, counters, owner));
}

/** One after the other: two calls that took one level each would refuse each other, and nobody would run. */
async function takeSlots(deps: ChatDependencies, counters: readonly Counter[], hold: Hold): Promise<CapacityClaim> {
  const { store, clock } = deps;
  const taken: Counter[] = [];
  const giveBack = () => giveSlotsBack(deps, taken, hold.owner);
  for (const counter of counters) {
    const { kind } = await takeHold({ store, counter, hold, nowMs: clock.nowMs() });
    if (kind === 'insufficient') {
      return { ...refused('capacity', fail('execution_capacity', { retryAfterSeconds })), giveBack };
    }
    taken.push(counter);
  }
  return { ...granted(), giveBack };
}

async function giveSlotsBack(
  { store, clock }: ChatDependencies,
  counters: readonly Counter[],
  owner: string,
): Promise<void> {
  const nowMs = clock.nowMs();
  await Promise.all(counters.map((counter) => settleHold({ store, counter, owner, held: 1n, actual: 0n, nowMs })));
}

/** Null: no limit. */
const slots = (key: string, limit: number | null): Counter | undefined =>
  limit === null
    ? undefined
    : { table: 'ledger', key, balances: [{ attribute: 'balance_slots', limit: BigInt(limit) }] };
