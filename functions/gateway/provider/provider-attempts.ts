// The provider calls of a request: each is counted, and ended ones are kept for its settlement.
import { type AdmittedCandidate, type Attempt, reportAttempt } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall } from '../provider-call.ts';
import { attemptOnMemory } from './attempt-on-memory.ts';
import type { CandidateQueue } from './candidate-queue.ts';
import { silenceLimitMs } from './silence.ts';

interface Calling {
  readonly next: AdmittedCandidate;
  readonly queue: CandidateQueue;
  readonly attempts: Attempts;
}

/** Where the call went to a socket that had died: once more. */
export async function callNext(deps: GatewayDependencies, call: ProviderCall, { next, queue, attempts }: Calling) {
  let admitted = next;
  const silenceMs = silenceLimitMs(call.times.deadline.remainingMs(), queue.waiting());
  let outcome = await attemptOnMemory(deps, call, admitted, silenceMs);
  if (outcome.kind === 'failure' && outcome.failure.wasDead === true) {
    // Counted twice, because the provider may have seen both. Permit and statistics are those of the second.
    attempts.count += 1;
    attempts.end({ ...admitted, permit: undefined }, outcome.failure, deps.clock.nowMs());
    admitted = queue.renewed(admitted);
    outcome = await attemptOnMemory(deps, call, admitted, silenceMs);
  }
  if (outcome.kind !== 'failure' || outcome.failure.isUnavailable !== true) attempts.count += 1;
  return { admitted, outcome };
}

/** Attempts of the loop so far. */
export interface Attempts {
  readonly ended: readonly Attempt[];
  count: number;
  firstOutputAtMs: number | undefined;
  end(
    admitted: AdmittedCandidate,
    outcome: Attempt['outcome'],
    endedAtMs: number,
    answered?: Pick<Attempt, 'charge' | 'said' | 'schemaMismatch' | 'reachedVia'>,
  ): void;
}

export function openAttempts(deps: GatewayDependencies, { request, payment, signals }: ProviderCall): Attempts {
  const ended: Attempt[] = [];
  const identity = { workspace: payment.workspace, callId: signals.correlationId };
  return {
    ended,
    count: 0,
    firstOutputAtMs: undefined,
    end(admitted, outcome, endedAtMs, answered = {}) {
      const { usage } = answered.charge ?? {};
      const tokens = usage === undefined ? 0 : usage.promptTokens + usage.completionTokens;
      const one = { ...admitted, outcome, latencyMs: endedAtMs - admitted.startedAtMs, tokens, ...answered };
      ended.push(one);
      if (request.clientInterface.seldomOffered === undefined) reportAttempt(deps, one, identity);
    },
  };
}
