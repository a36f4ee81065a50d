// Reserves in the budgets of stored BYOK connections. A connection whose budget does not cover the call leaves the
// plan. If no connection is left, the call is refused. The workspace's credit never replaces a budget that is used up.
import { readAvailable } from '../../../shared/accounting/holds/index.ts';
import { budgetExceeded, quoteBudget } from '../../../shared/configuration/byok/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { worstCaseCost } from '../../../shared/routing/billing/index.ts';
import { isBillable, type Plan } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { BudgetHold, RoutedCall } from '../stages.ts';
import { type Release, type Reservation, type ReservationResult, refusalResult } from './reservation.ts';

export function reserveBudgets(deps: GatewayDependencies, call: RoutedCall, owner: string): Reservation | undefined {
  const quotes = quotesOf(call, owner);
  if (quotes.length === 0) return undefined;
  const holds: BudgetHold[] = [];
  const release = async (): Promise<void> => {
    await Promise.all(holds.map((hold) => deps.counters.settle(hold.counter, hold, 0n)));
  };
  return {
    rank: 'money',
    reserve: () => takeBudgets(deps, call, quotes, holds, release),
    check: () => checkBudgets(deps, call, quotes),
    // Some budgets may have been reserved before another failed.
    releaseUncertain: release,
  };
}

/** Adds the reserved amounts to `holds`. */
async function takeBudgets(
  { counters }: GatewayDependencies,
  call: RoutedCall,
  quotes: readonly Quote[],
  holds: BudgetHold[],
  release: Release,
): Promise<ReservationResult> {
  const excluded = new Map<string, GatewayError>();
  await Promise.all(
    quotes.map(async ({ provider, hold, error }) => {
      if (error !== undefined) excluded.set(provider, error);
      if (hold === undefined) return;
      const take = await counters.take(hold.counter, hold);
      if (take.kind === 'taken') holds.push(hold);
      else excluded.set(provider, budgetExceeded(hold.amount, take.available));
    }),
  );
  const plan = planWithout(call, excluded);
  if (plan !== undefined) return { release, plan, reservations: { budgetHolds: holds } };
  return { ...refusedBy(excluded), release };
}

async function checkBudgets({ counters }: GatewayDependencies, call: RoutedCall, quotes: readonly Quote[]) {
  const excluded = new Map<string, GatewayError>();
  for (const { provider, hold, error } of quotes) {
    if (error !== undefined) excluded.set(provider, error);
    if (hold === undefined) continue;
    const available = readAvailable(hold.counter.balances, await counters.releaseExpired(hold.counter)) ?? hold.amount;
    if (available < hold.amount) excluded.set(provider, budgetExceeded(hold.amount, available));
  }
  return planWithout(call, excluded) === undefined ? refusedBy(excluded) : {};
}

/** Returns the plan without the excluded connections; undefined if no candidate remains. */
function planWithout(
  { effective: { plan } }: RoutedCall,
  excluded: ReadonlyMap<string, GatewayError>,
): Plan | undefined {
  const [first, ...rest] = plan.filter(({ provider }) => !excluded.has(provider.id));
  return first && [first, ...rest];
}

const refusedBy = (excluded: ReadonlyMap<string, GatewayError>): ReservationResult => {
  const [error] = excluded.values();
  return refusalResult('money', error);
};

interface Quote {
  readonly provider: string;
  /** The reservation; undefined if none is needed, or if it is impossible. */
  readonly hold?: BudgetHold | undefined;
  readonly error?: GatewayError | undefined;
}

function quotesOf(call: RoutedCall, owner: string): readonly Quote[] {
  const expiresAtMs = call.identified.parsed.leaseUntilMs;
  const { byok } = call.terms;
  const connected = call.effective.plan.filter((candidate) => byok?.sourceOf(candidate) === 'connection');
  return [...new Set(connected.map(({ provider }) => provider.id))].map((provider) =>
    quoteOf(call, provider, { owner, expiresAtMs }),
  );
}

function quoteOf(
  { identified, effective }: RoutedCall,
  provider: string,
  hold: Pick<BudgetHold, 'owner' | 'expiresAtMs'>,
): Quote {
  const connection = identified.connections.find((known) => known.provider === provider);
  if (connection === undefined) return { provider };
  const candidates = effective.plan.filter((candidate) => candidate.provider.id === provider);
  const worstCase = candidates.every(isBillable) ? worstCaseCost(candidates, effective.size) : null;
  const quote = quoteBudget(connection, worstCase);
  if (quote instanceof GatewayError) return { provider, error: quote };
  if (quote.kind === 'free') return { provider };
  const { amount, counter } = quote;
  return { provider, hold: { ...hold, amount, provider, counter } };
}
