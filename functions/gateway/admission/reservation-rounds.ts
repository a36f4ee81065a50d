// What of a call's reservations is asked for first. What a call reserves and releases again is missing to others meanwhile:
// so where a call is likely to end, the rest waits for a second round. As a rule all is one round.
import type { GatewayDependencies } from '../dependencies.ts';
import type { IdentifiedCall } from '../stages.ts';

export type FirstRound =
  | 'everything'
  /** The key and the names of the call: what is stored may be its answer, or one of them may refuse it. */
  | 'names'
  /** The spend limit of the key has just refused another call. */
  | 'spend_limit'
  /** The credit of the workspace has just refused another call. */
  | 'credit';

export function firstRoundOf(
  { recentRefusals }: GatewayDependencies,
  call: IdentifiedCall,
  asksCache: boolean,
): FirstRound {
  const { idempotencyKey, scope, credential, workspace } = call;
  const hasName = idempotencyKey !== undefined || scope.correlation.spanId !== undefined;
  if (hasName || asksCache || recentRefusals.has(keyRefusal(credential.publicId))) return 'names';
  if (recentRefusals.has(spendRefusal(credential.publicId))) return 'spend_limit';
  return recentRefusals.has(creditRefusal(workspace.id)) ? 'credit' : 'everything';
}

/** How `recentRefusals` names a refused key, its refused spending, and a workspace whose credit was refused. */
export const keyRefusal = (publicId: string): string => `key ${publicId}`;
export const spendRefusal = (publicId: string): string => `spend ${publicId}`;
export const creditRefusal = (workspaceId: string): string => `credit ${workspaceId}`;
