import type { MidStreamCode } from '../../shared/protocol/wire/index.ts';
import type { FailureKind } from '../../shared/routing/providers/index.ts';

/** Contract 4: the codes a stream may break with. */
export const midStreamCodes: Record<FailureKind, MidStreamCode> = {
  failed: 'no_available_provider',
  rate_limited: 'rate_limited',
  invalid: 'invalid_request',
  deadline: 'request_deadline_exceeded',
  // The client that would read it is gone.
  client_gone: 'no_available_provider',
};
