// The answer to a failure that nothing else answered: 500 in our envelope, its cause in our log under the same id.
import { fail, toEnvelope } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import type { AdapterDependencies } from './adapter.ts';
import type { GatewayResponse } from './exchange.ts';

export function internalErrorAnswer(
  cause: unknown,
  { randomness, log }: Pick<AdapterDependencies, 'randomness' | 'log'>,
): GatewayResponse {
  const correlationId = randomness.uuid();
  log.error({ event: 'request_failed', correlation_id: correlationId }, cause);
  const { status, headers, body } = toEnvelope(fail('internal_error', { cause }), correlationId);
  return {
    status,
    headers: { ...headers, [headerNames.requestId]: correlationId, [headerNames.traceId]: correlationId },
    body,
  };
}
