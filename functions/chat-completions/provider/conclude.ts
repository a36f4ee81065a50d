import { fail, type GatewayError } from '../../../shared/errors/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';

export interface LoopFacts {
  readonly attempts: number;
  readonly deadlineIsOver: boolean;
  /** Answers that did not satisfy the schema. */
  readonly outputMisses: number;
}

/** Many failed attempts → the one code that says what a client can do about it (contract 5). */
export function conclude(failures: readonly AttemptFailure[], facts: LoopFacts): GatewayError {
  const kinds = new Set(failures.map(({ kind }) => kind));
  if (facts.deadlineIsOver || kinds.has('deadline')) return fail('request_deadline_exceeded');
  if (facts.outputMisses > 0) return fail('schema_validation_failed', { attempts: facts.attempts });
  const [kind] = kinds;
  if (kinds.size === 1 && kind === 'invalid') return rejectedByAll(failures);
  if (kinds.size === 1 && kind === 'rate_limited') return limitedByAll(failures);
  return fail('no_available_provider', { cause: new Error(failures.map(({ cause }) => cause).join(', ')) });
}

/** `reason` only where every provider named the same one. */
function rejectedByAll(failures: readonly AttemptFailure[]): GatewayError {
  const reasons = new Set(failures.map(({ reason }) => reason));
  const [reason] = reasons;
  const message = 'Every provider rejected the request as invalid.';
  return fail('invalid_request', { message, ...(reasons.size === 1 && reason !== undefined ? { reason } : {}) });
}

/** The first provider to be free again is the one worth waiting for. */
function limitedByAll(failures: readonly AttemptFailure[]): GatewayError {
  const waits = failures.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 1);
  return fail('rate_limited', { retryAfterSeconds: Math.min(...waits) });
}
