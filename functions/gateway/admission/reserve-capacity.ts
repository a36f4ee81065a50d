// Concurrency of functions: a slot of the workspace and one of the service. A slot is a hold of amount 1, so
// that of a dead instance comes back with its lease. Slots are released when the execution ends, before the client
// knows: its next call must find them free.
import type { Counter } from '../../../shared/accounting/holds/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { type Reservation, type Reserved, refused } from './reservation.ts';

/** Functions run for seconds: a shorter wait would find no free slot. */
const retryAfterSeconds = 1;

export function reserveCapacity(
  { counters, times }: GatewayDependencies,
  { workspace, catalogue, arrivedAtMs }: IdentifiedCall,
  owner: string,
): Reservation {
  const levels = [
    levelOf(`The workspace ${workspace.id}`, `SLOTS#${workspace.id}`, workspace.function_concurrency),
    levelOf('The gateway', 'SLOTS', catalogue.service.function_concurrency),
  ].filter((level) => level !== undefined);
  const hold = { owner, amount: 1n, expiresAtMs: arrivedAtMs + times.leaseMs };
  const taken: Counter[] = [];
  const release = untilDone(async () => {
    await Promise.all(taken.map((counter) => counters.settle(counter, hold, 0n)));
  });
  async function reserve(): Promise<Reserved> {
    // One after the other: two calls that took one level each would refuse each other, and neither would run.
    for (const { counter, message } of levels) {
      const { kind } = await counters.take(counter, hold);
      if (kind === 'insufficient') {
        return { ...refused('capacity', fail('execution_capacity', { retryAfterSeconds, message })), release };
      }
      taken.push(counter);
    }
    return { release, holdings: { releaseSlots: release } };
  }
  return { rank: 'capacity', reserve, releaseUnknown: release };
}

interface Level {
  readonly counter: Counter;
  /** Where it has no slot left. */
  readonly message: string;
}

/** Null: no limit. */
function levelOf(whose: string, key: string, limit: number | null): Level | undefined {
  if (limit === null) return undefined;
  const counter: Counter = { table: 'ledger', key, balances: [{ attribute: 'balance_slots', limit: BigInt(limit) }] };
  const message = `${whose} may run ${limit} functions at once, its function_concurrency, and so many are running; try again in ${retryAfterSeconds} s.`;
  return { counter, message };
}

/** Done once, however often it is called; a call that failed may be repeated. */
function untilDone(task: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    await task();
    isDone = true;
  };
}
