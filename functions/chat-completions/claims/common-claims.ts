// What every call claims, of a model or of a function: its key, its names and its money; and what else it claims may wait
// for these.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { Hold } from '../../../shared/holds/index.ts';
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

export interface CommonWish {
  readonly owner: string;
  readonly hold: Hold | undefined;
  /** A refusal is weighed among the others. */
  readonly planned: object | GatewayError;
  /** The look into the cache, where the call asks for one. */
  readonly cached?: Promise<Claim> | undefined;
}

type StartLater = <Given extends Claim>(nothing: Given, claim: () => Promise<Given>) => Promise<Given>;

export function startCommonClaims(
  deps: ChatDependencies,
  call: IdentifiedCall,
  { owner, hold, planned, cached }: CommonWish,
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
  const whenItRuns: StartLater = (nothing, claim) => inTurn(isInDoubt, answers, nothing, claim);
  const spend = whenItRuns<KeyClaim>(nothingClaimed as KeyClaim, () =>
    claimSpend(deps, { ...call, hold: isInDoubt ? hold : undefined }),
  );
  const credit = inTurn<CreditClaim>(isInDoubt, doubts.pays ? [...answers, spend] : answers, nothingClaimed, () =>
    claimCredit(deps, call.workspace, hold),
  );
  const payers = doubts.pays ? [...answers, spend, credit] : answers;
  const whenItPays: StartLater = (nothing, claim) => inTurn(isInDoubt, payers, nothing, claim);
  return { claims: { ...names, spend, credit }, whenItRuns, whenItPays };
}
