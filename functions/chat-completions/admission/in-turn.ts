// Which claims wait for which. As a rule all go out at once, and a call costs one round. But what a call holds and gives
// back again is missing to others meanwhile. So where it is in doubt whether a call runs at all, it takes nothing from
// others before that is known: neither money nor a provider's slot.
import type { Deadline } from '../../../shared/foundation/time/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';
import type { Claim } from './claim.ts';

export interface Doubts {
  /** It may be answered from what is stored, or be refused for its key or its names. */
  readonly runs: boolean;
  /** It may be refused for money. */
  readonly pays: boolean;
}

export function doubtsOf({ refusedLately }: ChatDependencies, call: IdentifiedCall, asksCache: boolean): Doubts {
  const { idempotencyKey, scope, credential, workspace } = call;
  const hasName = idempotencyKey !== undefined || scope.correlation.spanId !== undefined;
  return {
    runs: hasName || asksCache || refusedLately.has(keyName(credential.publicId)),
    pays: refusedLately.has(spendName(credential.publicId)) || refusedLately.has(creditName(workspace.id)),
  };
}

/** What `refusedLately` knows a key by, its spending, and the credit of a workspace. */
export const keyName = (publicId: string): string => `key ${publicId}`;
export const spendName = (publicId: string): string => `spend ${publicId}`;
export const creditName = (workspaceId: string): string => `credit ${workspaceId}`;

/** `claim` after `earlier`, if none of them stands in the way and there is time left. */
export async function inTurn<Given extends Claim>(
  admission: Deadline,
  earlier: readonly Promise<Claim>[],
  nothing: Given,
  claim: () => Promise<Given>,
): Promise<Given> {
  const verdicts = (await Promise.all(earlier)).map(({ verdict }) => verdict);
  // Nobody waits any more for an admission that took too long.
  const isWanted = verdicts.every((verdict) => verdict === undefined) && admission.remainingMs() > 0;
  return isWanted ? claim() : nothing;
}
