// The key: active, under its requests per minute, and its spend limit covers the worst case. One write, or a read where
// the key has no limit; one more where its money is short, for a request that is refused counts like any other.

import {
  type Hold,
  type KeyAdmission,
  type KeyHold,
  settleKeyHold,
  takeKeyAdmission,
} from '../../../shared/accounting/holds/index.ts';
import type { ApiKey } from '../../../shared/configuration/keys/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import { type Claim, granted, heard, refused } from './claim.ts';
import { keyName, spendName } from './in-turn.ts';
import { shortOf } from './money-message.ts';

export interface KeyClaimFacts {
  readonly credential: ApiKey;
  readonly asksFunction: boolean;
  readonly keyItem: Item;
  readonly hold: Hold | undefined;
}

export type KeyClaim = Claim & {
  readonly hold?: KeyHold | undefined;
  /** The key as this claim saw it. */
  readonly item?: Item | undefined;
  readonly verdict: { readonly error: unknown; readonly rank: 'key' | 'money'; readonly ready?: undefined } | undefined;
};

export function claimKey(deps: ChatDependencies, facts: KeyClaimFacts): Promise<KeyClaim> {
  return heard('key', admitKey(deps, facts), giveHoldBack(deps, facts));
}

async function admitKey(deps: ChatDependencies, facts: KeyClaimFacts): Promise<KeyClaim> {
  const admission = await askKey(deps, facts);
  switch (admission.kind) {
    case 'spend_limit': {
      const counted = toRefusal(deps, await askKey(deps, { ...facts, hold: undefined }), facts);
      return counted ?? refuseSpend(deps, facts, admission);
    }
    case 'admitted':
      return toGrant(deps, admission, facts);
    default:
      return toRefusal(deps, admission, facts) ?? granted();
  }
}

async function askKey({ store, clock, keyCache }: ChatDependencies, facts: KeyClaimFacts): Promise<KeyAdmission> {
  const { publicId, secretSha256 } = facts.credential;
  const { hold, keyItem: known } = facts;
  const admission = await takeKeyAdmission({ store, publicId, secretSha256, nowMs: clock.nowMs(), known, hold });
  if (admission.kind === 'unknown') keyCache.delete(publicId);
  else keyCache.set(publicId, admission.item);
  return admission;
}

/** `item`: the key as it was seen. */
export const toGrant = (
  deps: ChatDependencies,
  { item, hold }: Extract<KeyAdmission, { kind: 'admitted' }>,
  facts: KeyClaimFacts,
): KeyClaim => ({
  ...granted(hold && giveHoldBack(deps, facts)),
  hold,
  item,
});

/** Also where nothing was taken: what was asked for may have been written with its answer lost. */
export const giveHoldBack =
  ({ store, clock }: ChatDependencies, { hold, credential: { publicId } }: KeyClaimFacts) =>
  async (): Promise<void> => {
    if (hold === undefined) return;
    await settleKeyHold({ store, hold: { ...hold, publicId }, actual: 0n, nowMs: clock.nowMs() });
  };

export function refuseSpend(
  { refusedLately }: ChatDependencies,
  { credential, asksFunction }: KeyClaimFacts,
  { needed, available }: Extract<KeyAdmission, { kind: 'spend_limit' }>,
): KeyClaim {
  refusedLately.set(spendName(credential.publicId), true);
  const message = shortOf('the spend limit of the key', needed, available);
  return refused('money', fail(asksFunction ? 'spend_limit_exceeded' : 'PAYMENT_REQUIRED', { message })) as KeyClaim;
}

/** What is wrong with the key itself. Undefined: nothing, or only its money. */
export function toRefusal(
  { refusedLately }: ChatDependencies,
  admission: KeyAdmission,
  { credential, asksFunction }: KeyClaimFacts,
): KeyClaim | undefined {
  const refusal = refusalOf(admission, asksFunction);
  if (refusal !== undefined) refusedLately.set(keyName(credential.publicId), true);
  return refusal;
}

function refusalOf(admission: KeyAdmission, asksFunction: boolean): KeyClaim | undefined {
  switch (admission.kind) {
    case 'unknown':
      return refused('key', fail('UNAUTHORIZED')) as KeyClaim;
    case 'revoked':
      return refused('key', fail(asksFunction ? 'api_key_revoked' : 'UNAUTHORIZED')) as KeyClaim;
    case 'rate_limited': {
      const retryAfterSeconds = Math.ceil(admission.retryAfterMs / 1_000);
      return refused('key', fail('api_key_rate_limit', { retryAfterSeconds })) as KeyClaim;
    }
    default:
      return undefined;
  }
}
