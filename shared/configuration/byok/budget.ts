// Decides which calls must be priced before their provider is called, because their connection has a budget, and in
// which counter. Reservations and settlements follow the rules of every counter.
import { fail, type GatewayError } from '../../errors/index.ts';
import { formatUsd, type PicoUsd } from '../../foundation/money/index.ts';
import type { Connection } from './connection.ts';

/**
 * The counter of a connection with a budget: one item, made by its first reservation. The budget itself stays in the
 * connection, so that a changed budget counts at once: the rest is `limit` + balance. A removed connection leaves its
 * counter, and a connection that is added again continues with it.
 */
interface BudgetCounter {
  readonly table: 'ledger';
  /** Key BYOKBUDGET#workspace#provider; neither id can contain a #. */
  readonly key: string;
  /** The balance, which starts at 0 and decreases by reserved and spent amounts. */
  readonly balances: readonly [{ readonly attribute: 'balance_pico_usd'; readonly limit: PicoUsd }];
  readonly spentAttribute: 'spent_pico_usd';
}

type BudgetQuote =
  /** Nothing is reserved if there is no budget, or the call costs nothing. */
  { readonly kind: 'free' } | { readonly kind: 'held'; readonly counter: BudgetCounter; readonly amount: PicoUsd };

type Budgeted = Pick<Connection, 'workspace' | 'provider' | 'budgetPicoUsd'>;

/**
 * Returns the amount to reserve before the provider of this connection is called. `worstCase` is the highest cost of
 * the call there; null if the catalogue has no prices for it. Returns byok_budget_unquotable if a budget applies
 * to such a call, and byok_budget_exceeded if the call would not fit even an unused budget.
 */
export function quoteBudget(connection: Budgeted, worstCase: PicoUsd | null): BudgetQuote | GatewayError {
  const limit = connection.budgetPicoUsd;
  if (limit === null) return { kind: 'free' };
  if (worstCase === null) return fail('byok_budget_unquotable');
  if (worstCase === 0n) return { kind: 'free' };
  if (worstCase > limit) return budgetExceeded(worstCase, limit);
  return { kind: 'held', counter: budgetCounter(connection, limit), amount: worstCase };
}

/** Returns the error of a refused reservation. Its message names both amounts, like the message of every 402. */
export const budgetExceeded = (needed: PicoUsd, available: PicoUsd): GatewayError =>
  fail('byok_budget_exceeded', {
    message: `The request may cost ${formatUsd(needed)} USD, and ${formatUsd(atLeastNothing(available))} USD of the BYOK budget is available.`,
  });

const atLeastNothing = (amount: PicoUsd): PicoUsd => (amount < 0n ? 0n : amount);

const budgetCounter = ({ workspace, provider }: Budgeted, limit: PicoUsd): BudgetCounter => ({
  table: 'ledger',
  key: `BYOKBUDGET#${workspace}#${provider}`,
  balances: [{ attribute: 'balance_pico_usd', limit }],
  spentAttribute: 'spent_pico_usd',
});
