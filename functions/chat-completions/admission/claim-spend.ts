// The spend limit of a key by itself: for calls whose key was claimed without it, since it was in doubt whether they run.
import { readKeyLimits, takeKeyAdmission } from '../../../shared/accounting/holds/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { granted, heard } from './claim.ts';
import { giveHoldBack, type KeyClaim, type KeyClaimFacts, refuseSpend, toGrant, toRefusal } from './claim-key.ts';

/** `counted`: the claim that counted the request, with the key as it was seen there. */
export function claimSpend(deps: ChatDependencies, facts: KeyClaimFacts, counted: KeyClaim): Promise<KeyClaim> {
  const { hold, credential } = facts;
  const known = counted.item ?? facts.keyItem;
  if (hold === undefined || readKeyLimits(known).spendLimitUsd === null) return Promise.resolve(granted());
  const wish = { ...credential, store: deps.store, nowMs: deps.clock.nowMs(), known, hold, countsRequest: false };
  const taken = takeKeyAdmission(wish).then((admission): KeyClaim => {
    if (admission.kind === 'spend_limit') return refuseSpend(deps, facts, admission);
    if (admission.kind === 'admitted') return toGrant(deps, admission, facts);
    return toRefusal(deps, admission, facts) ?? granted();
  });
  return heard('money', taken, giveHoldBack(deps, facts));
}
