// A change that was not made, as its client sees it.
import { ChangeFailed, type ChangeFailure } from '../../../shared/configuration/administration/index.ts';
import { type ErrorCode, fail } from '../../../shared/errors/index.ts';

const codes = {
  absent: 'not_found',
  taken: 'invalid_request',
  invalid: 'invalid_request',
  conflict: 'idempotency_conflict',
  insufficient: 'PAYMENT_REQUIRED',
  forbidden: 'forbidden',
  unanswered: 'RATE_LIMITER_UNAVAILABLE',
} as const satisfies Record<ChangeFailure, ErrorCode>;

const unanswered =
  'The store gave no answer: the change may have been made. Look at what is stored, or repeat it; a credit with the same id is added once.';

/** Any other error as it is. */
export function toClientError(error: unknown): unknown {
  if (!(error instanceof ChangeFailed)) return error;
  const { failure, message, param = failure === 'taken' ? 'name' : undefined } = error;
  if (failure === 'unanswered') return fail(codes.unanswered, { message: unanswered, cause: error });
  return fail(codes[failure], { message, param });
}
