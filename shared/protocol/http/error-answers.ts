// Writes the error answers of an adapter, for failures that no endpoint answers.
import { fail, type GatewayError, toEnvelope } from '../../errors/index.ts';
import { headerNames } from '../../foundation/constants/index.ts';
import type { AdapterDependencies, GatewayResponse } from './exchange.ts';

/** Returns the answer to an unexpected failure, which has status 500. The log has its cause under the same id. */
export function internalErrorAnswer(
  cause: unknown,
  { randomness, log }: Pick<AdapterDependencies, 'randomness' | 'log'>,
): GatewayResponse {
  const correlationId = randomness.uuid();
  log.error({ event: 'request_failed', correlation_id: correlationId }, cause);
  return answerOf(fail('internal_error', { cause }), correlationId);
}

/** Returns the answer to a request whose head is unknown. */
export const refusalAnswer = (refusal: GatewayError, { randomness }: Pick<AdapterDependencies, 'randomness'>) =>
  answerOf(refusal, randomness.uuid());

function answerOf(error: GatewayError, correlationId: string): GatewayResponse {
  const { status, headers, body } = toEnvelope(error, correlationId);
  // The trace id is the same id, because the request's own trace id may not have been read.
  const ids = { [headerNames.requestId]: correlationId, [headerNames.traceId]: correlationId };
  return { status, headers: { ...headers, ...ids }, body };
}
