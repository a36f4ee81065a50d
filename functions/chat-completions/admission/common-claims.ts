// What every call claims, of a model or of a function: its key, its names and its money; and what else it claims may wait
// for these.

import type { Hold } from '../../../shared/accounting/holds/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import type { Claim } from './claim.ts';
import { type CreditClaim, claimCredit } from './claim-credit.ts';
import { claimIdempotency } from './claim-idempotency.ts';
import { claimKey, type KeyClaim } from './claim-key.ts';
import { claimSpan } from './claim-span.ts';
import { claimSpend } from './claim-spend.ts';
import { doubtsOf, inTurn } from './in-turn.ts';

export const nothingClaimed: Claim = { verdict: undefined };

const noSpend: KeyClaim = { verdict: undefined };

export interface CommonWish {
  readonly owner: string;
  readonly hold: Hold | undefined;
  /** A refusal is weighed among the others. */
  readonly planned: object | GatewayError;
  /** The look into the cache, where the call asks for one. */
  readonly cached?: Promise<Claim> | undefined;
  readonly admission: Deadline;
}

type StartLater = <Given extends Claim>(nothing: Given, claim: () => Promise<Given>) => Promise<Given>;

export function startCommonClaims(
  deps: ChatDependencies,
  call: IdentifiedCall,
  { owner, hold, planned, cached, admission }: CommonWish,
) {
  const doubts = doubtsOf(deps, call, cached !== undefined);
  const isInDoubt = doubts.runs || doubts.pays;
  const names = {
    // Without a doubt the key's own claim holds its money too, in the same write.
    key: claimKey(deps, { ...call, hold: isInDoubt ? undefined : hold }),
    idempotency: claimIdempotency(deps, call, owner),
    span: claimSpan(deps, call, owner),
    plan: Promise.resolve<Claim>(
      planned instanceof GatewayError ? { verdict: { rank: 'plan', error: planned } } : nothingClaimed,
    ),
  };
  const answers = [...Object.values(names), ...(cached === undefined ? [] : [cached])];
  const after =
    (earlier: readonly Promise<Claim>[]): StartLater =>
    (nothing, claim) =>
      isInDoubt ? inTurn(admission, earlier, nothing, claim) : claim();
  const spend = isInDoubt
    ? inTurn(admission, answers, noSpend, async () => claimSpend(deps, { ...call, hold }, await names.key))
    : Promise.resolve(noSpend);
  const credit = after(doubts.pays ? [...answers, spend] : answers)<CreditClaim>(nothingClaimed, () =>
    claimCredit(deps, call.workspace, hold),
  );
  /** What is left: also after the money, where that is in doubt. */
  const whenItRuns = after(doubts.pays ? [...answers, spend, credit] : answers);
  return { claims: { ...names, spend, credit }, whenItRuns };
}
