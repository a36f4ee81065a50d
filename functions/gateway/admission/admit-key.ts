// Asks the store about a key, and keeps what it says of it: the next call of this instance starts from there.
import {
  type KeyAdmission,
  type KeyCount,
  type KeyRequest,
  type PaidKeyRequest,
  secretOf,
} from '../../../shared/accounting/holds/index.ts';
import { type ApiKey, refuseEndedKey, refuseKey } from '../../../shared/configuration/keys/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';

export const admitKey = async (deps: GatewayDependencies, request: PaidKeyRequest): Promise<KeyAdmission> =>
  remember(deps, request, await deps.counters.admitKey(request));

/** For a request that costs nothing. */
export const countKeyRequest = async (deps: GatewayDependencies, request: KeyRequest): Promise<KeyCount> =>
  remember(deps, request, await deps.counters.countKeyRequest(request));

function remember<Answer extends KeyAdmission | KeyCount>(
  { keyCache }: GatewayDependencies,
  { publicId }: KeyRequest,
  answer: Answer,
): Answer {
  if (answer.kind === 'unknown') keyCache.delete(publicId);
  else keyCache.set(publicId, answer.item);
  return answer;
}

/** Undefined: the key itself is in order, whatever money it has. */
export function keyErrorOf(
  admission: KeyAdmission | KeyCount,
  { publicId }: Pick<ApiKey, 'publicId'>,
  asksFunction: boolean,
): GatewayError | undefined {
  switch (admission.kind) {
    case 'unknown':
      return refuseKey('unknown');
    case 'revoked':
      return refuseEndedKey(secretOf(admission.item, publicId), asksFunction);
    case 'rate_limited':
      return failRateLimit(admission.requestsPerMinute, Math.ceil(admission.retryAfterMs / 1_000));
    default:
      return undefined;
  }
}

function failRateLimit(requestsPerMinute: number, retryAfterSeconds: number): GatewayError {
  const message = `The key may make ${requestsPerMinute} requests a minute, and has made them; try again in ${retryAfterSeconds} s.`;
  return fail('api_key_rate_limit', { message, retryAfterSeconds });
}
