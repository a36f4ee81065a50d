// Asks the store about a key, and keeps what it says of it: the next call of this instance starts from there.
import type { KeyAdmission, KeyAdmissionRequest } from '../../../shared/accounting/holds/index.ts';
import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { ChatDependencies } from '../dependencies.ts';

export async function admitKey(
  { counters, keyCache }: ChatDependencies,
  request: KeyAdmissionRequest,
): Promise<KeyAdmission> {
  const admission = await counters.admitKey(request);
  if (admission.kind === 'unknown') keyCache.delete(request.publicId);
  else keyCache.set(request.publicId, admission.item);
  return admission;
}

/** Undefined: the key itself is in order, whatever money it has. */
export function keyErrorOf(admission: KeyAdmission, asksFunction: boolean): GatewayError | undefined {
  switch (admission.kind) {
    case 'unknown':
      return fail('UNAUTHORIZED');
    case 'revoked':
      return fail(asksFunction ? 'api_key_revoked' : 'UNAUTHORIZED');
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
