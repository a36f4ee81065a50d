import type { ErrorCode } from '../../errors/index.ts';
import type { FailureKind } from './classify.ts';

/** Contract 4: the codes of the error line with which a stream may end. */
export const midStreamCodes: Record<FailureKind, ErrorCode> = {
  failed: 'no_available_provider',
  rate_limited: 'rate_limited',
  invalid: 'invalid_request',
  deadline: 'request_deadline_exceeded',
  // The client that left does not read it; the record of the call does not use it.
  client_gone: 'no_available_provider',
};
