// Inside a function call every failure to get a result from providers is execution_failed, or
// execution_deadline_exceeded (contract 5). What is wrong with us or with the request keeps its own code.
import { type ErrorCode, fail, GatewayError } from '../../../shared/errors/index.ts';

const providerFailures: ReadonlySet<ErrorCode> = new Set([
  'no_available_provider',
  'rate_limited',
  'invalid_request',
  'schema_validation_failed',
]);

export function executionError(error: unknown): unknown {
  if (!(error instanceof GatewayError)) return error;
  if (error.code === 'request_deadline_exceeded') return fail('execution_deadline_exceeded', { cause: error });
  return providerFailures.has(error.code) ? fail('execution_failed', { cause: error }) : error;
}

export const noResult = (): GatewayError => fail('execution_failed');
