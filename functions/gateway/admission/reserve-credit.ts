// The workspace: its credit, and its own spend limit, cover the worst case.
import type { CreditAccount } from '../../../shared/accounting/credit/index.ts';
import type { Hold } from '../../../shared/accounting/holds/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import { insufficientMessage } from './money-message.ts';
import { type Reservation, type Reserved, refused } from './reservation.ts';
import { creditRefusal } from './reservation-rounds.ts';

export function reserveCredit(
  deps: GatewayDependencies,
  call: IdentifiedCall,
  hold: Hold | undefined,
): Reservation | undefined {
  if (hold === undefined) return undefined;
  const { workspace } = call;
  const { credit, recentRefusals } = deps;
  const spendLimit = workspace.spend_limit_usd === null ? null : (parseUsd(workspace.spend_limit_usd) ?? 0n);
  const account: CreditAccount = { workspace: workspace.id, spendLimit, shards: workspace.credit_shards };
  async function reserve(): Promise<Reserved> {
    const take = await credit.take(account, hold as Hold);
    if (take.kind === 'insufficient') {
      recentRefusals.set(creditRefusal(account.workspace), true);
      const what = take.short === 'credit' ? 'credit' : 'the spend limit of the workspace';
      const message = insufficientMessage(what, { ...take, isUnbounded: isUnbounded(call) });
      return refused('money', fail('PAYMENT_REQUIRED', { message }));
    }
    const creditHold = take.hold;
    return { holdings: { creditHold }, release: () => credit.release(creditHold) };
  }
  return { rank: 'money', reserve };
}

/** The request of a function is fixed by its revision: its caller could not bound it. */
export const isUnbounded = ({ request, asksFunction }: IdentifiedCall): boolean =>
  !asksFunction && request.isOutputOpen;
