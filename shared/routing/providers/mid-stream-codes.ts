import type { MidStreamCode } from '../../protocol/wire/index.ts';
import type { FailureKind } from './classify.ts';

/** The code of the error line with which a stream ends, by what ended it. */
export const midStreamCodeOf: Record<FailureKind, MidStreamCode> = {
  failed: 'no_available_provider',
  rate_limited: 'rate_limited',
  invalid: 'invalid_request',
  deadline: 'request_deadline_exceeded',
  // The client that would read it is gone, or this process ends.
  client_gone: 'no_available_provider',
};
