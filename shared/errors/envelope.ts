// The one writer of error answers (spec 2.8) and of their retry headers (contract 4).
import { headerNames } from '../foundation/constants/index.ts';
import type { GatewayError } from './gateway-error.ts';

/** Clients sleep for whatever Retry-After says, so it stays within this span (contract 4). */
const retryAfterMinSeconds = 1;
const retryAfterMaxSeconds = 60;
const retryAfterDefaultSeconds = 1;

export interface Envelope {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Shapes an error as `{error, message, correlation_id, reason?, detail?}` with its status and retry headers. */
export function toEnvelope(error: GatewayError, correlationId: string): Envelope {
  const body = {
    error: error.code,
    message: error.message,
    correlation_id: correlationId,
    // Spec 2.8: reason only on 400s, detail only on schema_validation_failed.
    ...(error.reason === undefined ? {} : { reason: error.reason }),
    ...(error.attempts === undefined ? {} : { detail: { attempts: error.attempts } }),
  };
  return {
    status: error.entry.status,
    headers: { 'content-type': 'application/json', ...retryHeaders(error) },
    body: JSON.stringify(body),
  };
}

function retryHeaders(error: GatewayError): Record<string, string> {
  const { retry } = error.entry;
  if (retry === 'none') return {};
  if (retry === 'never') return { [headerNames.shouldRetry]: 'false' };
  const trueWaitSeconds = Math.ceil(error.retryAfterSeconds ?? retryAfterDefaultSeconds);
  const seconds = Math.min(Math.max(trueWaitSeconds, retryAfterMinSeconds), retryAfterMaxSeconds);
  const headers: Record<string, string> = { [headerNames.retryAfter]: String(seconds) };
  if (retry === 'soon') headers[headerNames.shouldRetry] = 'true';
  else if (trueWaitSeconds > retryAfterMaxSeconds) headers[headerNames.shouldRetry] = 'false';
  return headers;
}
