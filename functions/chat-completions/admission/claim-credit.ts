// The workspace: its credit, and its own spend limit, cover the worst case.
import type { CreditAccount, CreditHold } from '../../../shared/accounting/credit/index.ts';
import type { Hold } from '../../../shared/accounting/holds/index.ts';
import type { WorkspaceDocument } from '../../../shared/configuration/workspaces/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { parseUsd } from '../../../shared/foundation/money/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { type Claim, granted, heard, refused } from './claim.ts';
import { creditName } from './in-turn.ts';
import { shortOf } from './money-message.ts';

export type CreditClaim = Claim & { readonly hold?: CreditHold | undefined };

export async function claimCredit(
  deps: ChatDependencies,
  workspace: WorkspaceDocument,
  hold: Hold | undefined,
): Promise<CreditClaim> {
  if (hold === undefined) return granted();
  const spendLimit = workspace.spend_limit_usd === null ? null : (parseUsd(workspace.spend_limit_usd) ?? 0n);
  const account = { workspace: workspace.id, spendLimit, shards: workspace.credit_shards };
  return heard('money', takeCredit(deps, account, hold), async () => {
    // Which shard was asked last is not known: the others have nothing of this owner.
    const nowMs = deps.clock.nowMs();
    const shards = Array.from({ length: account.shards ?? 1 }, (_none, shard) => shard);
    await Promise.all(shards.map((shard) => deps.credit.release({ hold: { ...hold, account, shard }, nowMs })));
  });
}

async function takeCredit(
  { credit, clock, refusedLately }: ChatDependencies,
  account: CreditAccount,
  hold: Hold,
): Promise<CreditClaim> {
  const take = await credit.take(account, hold, clock.nowMs());
  if (take.kind === 'insufficient') {
    refusedLately.set(creditName(account.workspace), true);
    const what = take.short === 'credit' ? 'credit' : 'the spend limit of the workspace';
    return refused('money', fail('PAYMENT_REQUIRED', { message: shortOf(what, take.needed, take.available) }));
  }
  const giveBack = async () => {
    await credit.release({ hold: take.hold, nowMs: clock.nowMs() });
  };
  return { ...granted(giveBack), hold: take.hold };
}
