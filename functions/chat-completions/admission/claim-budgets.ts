// Budgets of stored BYOK connections. A connection whose budget does not cover the call leaves the plan; where nobody is
// left the call is refused. Our credit never steps in for a budget that is used up.

import { settleHold, takeHold } from '../../../shared/accounting/holds/index.ts';
import { budgetExceeded, quoteBudget } from '../../../shared/configuration/byok/index.ts';
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { leaseMs } from '../../../shared/foundation/constants/index.ts';
import { isBillable, type Plan } from '../../../shared/routing/planner/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { OtherHold, RoutedCall } from '../stages.ts';
import { type Claim, granted, heard, refused } from './claim.ts';
import { worstCaseOf } from './holds-of-call.ts';

export type BudgetsClaim = Claim & { readonly plan: Plan; readonly holds: readonly OtherHold[] };

export async function claimBudgets(deps: ChatDependencies, call: RoutedCall, owner: string): Promise<BudgetsClaim> {
  const quotes = quotesOf(call, owner);
  const asked = quotes.flatMap((quote) => (quote.hold === undefined ? [] : [quote.hold]));
  const giveBack = async () => {
    const nowMs = deps.clock.nowMs();
    await Promise.all(
      asked.map(({ counter, amount }) =>
        settleHold({ store: deps.store, counter, owner, held: amount, actual: 0n, nowMs }),
      ),
    );
  };
  return heard('money', takeBudgets(deps, call, quotes, giveBack), giveBack);
}

async function takeBudgets(
  { store, clock }: ChatDependencies,
  call: RoutedCall,
  quotes: readonly Quote[],
  giveBack: () => Promise<void>,
): Promise<BudgetsClaim> {
  const nowMs = clock.nowMs();
  const taken = await Promise.all(
    quotes.map(async ({ provider, hold, error }) => {
      if (hold === undefined) return { provider, error };
      const take = await takeHold({ store, counter: hold.counter, hold, nowMs });
      if (take.kind === 'taken') return { provider, hold };
      return { provider, error: budgetExceeded(hold.amount, take.available) };
    }),
  );
  const excluded = new Map(taken.flatMap(({ provider, error }) => (error === undefined ? [] : [[provider, error]])));
  const holds = taken.flatMap(({ hold }) => (hold === undefined ? [] : [hold]));
  const [first, ...rest] = call.plan.filter(({ provider }) => !excluded.has(provider.id));
  if (first !== undefined)
    return { ...granted(holds.length === 0 ? undefined : giveBack), plan: [first, ...rest], holds };
  const [error] = excluded.values();
  return { ...refused('money', error), giveBack, plan: call.plan, holds };
}

const isConnected = ({ byok }: RoutedCall, candidate: Candidate): boolean => byok?.sourceOf(candidate) === 'connection';

interface Quote {
  readonly provider: string;
  /** What is to be held. Undefined: nothing, or it cannot be. */
  readonly hold?: OtherHold | undefined;
  readonly error?: GatewayError | undefined;
}

function quotesOf(call: RoutedCall, owner: string): readonly Quote[] {
  const connected = call.plan.filter((candidate) => isConnected(call, candidate));
  return [...new Set(connected.map(({ provider }) => provider.id))].map((provider) => quoteOf(call, provider, owner));
}

function quoteOf(call: RoutedCall, provider: string, owner: string): Quote {
  const connection = call.connections.find((known) => known.provider === provider);
  if (connection === undefined) return { provider };
  const candidates = call.plan.filter((candidate) => candidate.provider.id === provider);
  const worstCase = candidates.every(isBillable) ? worstCaseOf(call.request, candidates) : null;
  const quote = quoteBudget(connection, worstCase);
  if (quote instanceof GatewayError) return { provider, error: quote };
  if (quote.kind === 'free') return { provider };
  const expiresAtMs = call.arrivedAtMs + leaseMs;
  return { provider, hold: { owner, amount: quote.amount, expiresAtMs, payer: { provider }, counter: quote.counter } };
}
