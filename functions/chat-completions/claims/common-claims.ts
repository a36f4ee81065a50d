// What every call claims, of a model or of a function, before it is known to run: its key, its Idempotency-Key and its
// span. All start at once.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { Hold } from '../../../shared/holds/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import type { Claim } from './claim.ts';
import { claimIdempotency } from './claim-idempotency.ts';
import { claimKey } from './claim-key.ts';
import { claimSpan } from './claim-span.ts';

export const nothingClaimed: Claim = { verdict: undefined };

/** `planned` may be a refusal: it is weighed among the others. */
export const startCommonClaims = (
  deps: ChatDependencies,
  call: IdentifiedCall,
  owner: string,
  hold: Hold | undefined,
  planned: object | GatewayError,
) => ({
  key: claimKey(deps, { ...call, hold }),
  idempotency: claimIdempotency(deps, call, owner),
  span: claimSpan(deps, call, owner),
  plan: Promise.resolve(
    planned instanceof GatewayError ? ({ verdict: { rank: 'plan', error: planned } } as const) : nothingClaimed,
  ),
});
