import type { ErrorCode } from '../../shared/errors/index.ts';
import type { FailureKind } from '../../shared/routing/providers/index.ts';

/** Contract 4: the codes a stream may break with. */
export const midStreamCodes: Record<FailureKind, ErrorCode> = {
  failed: 'no_available_provider',
  rate_limited: 'rate_limited',
  invalid: 'invalid_request',
  deadline: 'request_deadline_exceeded',
  // Nobody reads it.
  client_gone: 'no_available_provider',
};
