import type { GatewayError } from '../../../shared/errors/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ReceivedCall, SeenKey } from '../stages.ts';
import { noAdvice } from './money-message.ts';
import { reserveKey } from './reserve-key.ts';

/** A call that cannot be served still counts for its key, and a revoked or rate-limited key wins over its fault. */
export async function refuseFault(
  deps: GatewayDependencies,
  { credential, read }: ReceivedCall,
  key: SeenKey,
  fault: GatewayError,
): Promise<unknown> {
  const { asksFunction } = await read();
  const { resolution } = await reserveKey(deps, { credential, key, asksFunction, advise: noAdvice }).reserve();
  return resolution === undefined ? fault : resolution.error;
}
