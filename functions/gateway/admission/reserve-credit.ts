// The workspace: its credit, and its own spend limit, cover the worst case, and it has a slot for the call.
import type { CreditAccount } from '../../../shared/accounting/credit/index.ts';
import type { Hold } from '../../../shared/accounting/holds/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { concurrencyError } from './concurrency.ts';
import { type Advise, insufficientMessage, type Shortage } from './money-message.ts';
import { type Reservation, type ReservationResult, refused } from './reservation.ts';

export function reserveCredit(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  hold: Hold | undefined,
  advise: Advise,
): Reservation | undefined {
  if (hold === undefined) return undefined;
  const { workspace, asksFunction } = call;
  const { credit, recentRefusals } = deps;
  const { concurrency = null } = workspace;
  const spendLimit = workspace.spend_limit_usd === null ? null : (parseUsd(workspace.spend_limit_usd) ?? 0n);
  const account: CreditAccount = { workspace: workspace.id, spendLimit, shards: workspace.credit_shards, concurrency };
  const refuse = (short: 'credit' | 'spend_limit', shortage: Omit<Shortage, 'advise'>): ReservationResult => {
    recentRefusals.set(account.workspace, true);
    const what = short === 'credit' ? 'credit' : 'the spend limit of the workspace';
    const message = insufficientMessage(what, { ...shortage, advise });
    return refused('money', fail('PAYMENT_REQUIRED', { message }));
  };
  async function reserve(): Promise<ReservationResult> {
    const take = await credit.take(account, hold as Hold);
    if (take.kind === 'insufficient') return refuse(take.short, take);
    if (take.kind === 'no_slot') {
      recentRefusals.set(account.workspace, true);
      return refused('capacity', concurrencyError(`The workspace ${workspace.id}`, concurrency ?? 0, { asksFunction }));
    }
    const creditHold = take.hold;
    return { holdings: { creditHold }, release: () => credit.release(creditHold) };
  }
  async function check(): Promise<ReservationResult> {
    const { available, underSpendLimit } = await credit.show(account);
    const needed = hold?.amount ?? 0n;
    if (available < needed) return refuse('credit', { needed, available });
    if (underSpendLimit === null || underSpendLimit >= needed) return {};
    return refuse('spend_limit', { needed, available: underSpendLimit });
  }
  return { rank: 'money', reserve, check };
}
