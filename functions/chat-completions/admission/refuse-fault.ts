import type { GatewayError } from '../../../shared/errors/index.ts';
import type { Item } from '../../../shared/storage/store/index.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ReceivedCall } from '../stages.ts';
import { claimKey } from './claim-key.ts';

/** A call that cannot be served still counts for its key, and a revoked or hurried key wins over what is wrong with it. */
export async function refuseFault(
  deps: ChatDependencies,
  { credential, read }: ReceivedCall,
  keyItem: Item,
  fault: GatewayError,
): Promise<unknown> {
  const claim = await claimKey(deps, { credential, asksFunction: read().asksFunction, keyItem, hold: undefined });
  return claim.verdict === undefined ? fault : claim.verdict.error;
}
