// Many failed attempts → the one error that says what a client can do about it (contract 5), and whether a retry can
// succeed (contract 4).
import { fail, failRejected, type GatewayError } from '../../../shared/errors/index.ts';
import { type AttemptFailure, agreedParam } from '../../../shared/routing/providers/index.ts';
import type { ModelCall } from '../stages.ts';

export interface LoopFacts {
  readonly attempts: number;
  readonly deadlineIsOver: boolean;
  /** Answers that did not satisfy the schema. */
  readonly outputMisses: number;
}

export function conclude(call: ModelCall, failures: readonly AttemptFailure[], facts: LoopFacts): GatewayError {
  const kinds = new Set(failures.map(({ kind }) => kind));
  if (facts.deadlineIsOver || kinds.has('deadline')) return fail('request_deadline_exceeded');
  if (facts.outputMisses > 0) return fail('schema_validation_failed', { attempts: facts.attempts });
  const [kind] = kinds;
  if (kinds.size === 1 && kind === 'invalid') return rejectedByAll(call, failures);
  if (kinds.size === 1 && kind === 'rate_limited') return limitedByAll(failures);
  const cause = new Error(failures.map((failure) => failure.cause).join(', '));
  return fail('no_available_provider', { ...finalReason(call, failures), cause });
}

/** `reason` and `param` only where every provider named the same. */
function rejectedByAll(call: ModelCall, failures: readonly AttemptFailure[]): GatewayError {
  const [reason, ...others] = new Set(failures.map((failure) => failure.reason));
  return failRejected({
    reason: others.length === 0 ? reason : undefined,
    param: agreedParam(failures, call.request.raw),
    contextLength: Math.max(...call.plan.map(({ entry }) => entry.context_length)),
  });
}

/** The first provider to be free again is the one worth waiting for. */
function limitedByAll(failures: readonly AttemptFailure[]): GatewayError {
  const waits = failures.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 1);
  return fail('rate_limited', { retryAfterSeconds: Math.min(...waits) });
}

/** Whose fault it is, where a retry would end the same way. */
function finalReason(
  { byok, plan }: ModelCall,
  failures: readonly AttemptFailure[],
): { readonly isFinal?: boolean; readonly message?: string } {
  const isRefused = ({ refusedCredential, hasNoQuota }: AttemptFailure) => refusedCredential || hasNoQuota;
  if (plan.some((candidate) => byok?.sourceOf(candidate) === 'header') && failures.some(isRefused)) {
    return {
      isFinal: true,
      message: 'The provider refused the key of the x-byok-key header, or its account has no quota.',
    };
  }
  if (failures.length === 0 || !failures.every(isRefused)) return {};
  const what = failures.every(({ hasNoQuota }) => hasNoQuota)
    ? "The gateway's accounts at its providers have no quota left"
    : "The providers refused the gateway's own credentials";
  return { isFinal: true, message: `${what}: its operator has to correct this.` };
}
