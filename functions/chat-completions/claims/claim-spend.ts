// The spend limit of a key by itself: for calls whose key was claimed without it, since it was in doubt whether they run.
import { readKeyLimits, settleKeyHold, takeKeyAdmission } from '../../../shared/holds/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { granted, heard } from './claim.ts';
import { type KeyClaim, type KeyClaimFacts, refuseSpend, toRefusal } from './claim-key.ts';

/** `counted`: the claim that counted the request, with the key as it was seen there. */
export function claimSpend(deps: ChatDependencies, facts: KeyClaimFacts, counted: KeyClaim): Promise<KeyClaim> {
  const { hold, credential } = facts;
  const known = counted.item ?? facts.keyItem;
  if (hold === undefined || readKeyLimits(known).spendLimitUsd === null) return Promise.resolve(granted());
  const { store, clock } = deps;
  const { publicId, secretSha256 } = credential;
  const nowMs = clock.nowMs();
  const giveBack = async () => {
    await settleKeyHold({ store, hold: { ...hold, publicId }, actual: 0n, nowMs: clock.nowMs() });
  };
  const taken = takeKeyAdmission({ store, publicId, secretSha256, nowMs, known, hold, countsRequest: false }).then(
    (admission): KeyClaim => {
      if (admission.kind === 'spend_limit') return refuseSpend(deps, facts, admission);
      if (admission.kind !== 'admitted') return toRefusal(deps, admission, facts) ?? granted();
      return admission.hold === undefined ? granted() : { ...granted(giveBack), hold: admission.hold };
    },
  );
  return heard('money', taken, giveBack) as Promise<KeyClaim>;
}
