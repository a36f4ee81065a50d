// The provider calls of a request: each is counted, and ended ones are listed for its settlement.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import type { JsonAnswer, RefusedAnswer } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { type AdmittedCandidate, type Attempt, reportAttempt } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall } from '../stages.ts';
import { attemptOnMemory } from './attempt-on-memory.ts';
import type { CandidateQueue } from './candidate-queue.ts';
import { silenceLimitMs } from './silence.ts';

interface Calling {
  readonly next: AdmittedCandidate;
  readonly queue: CandidateQueue;
  readonly attempts: Attempts;
}

/** Calls the candidate, once more where the call went to a socket that had died. */
export async function callNext(deps: GatewayDependencies, call: ProviderCall, { next, queue, attempts }: Calling) {
  let admitted = next;
  const silenceMs = silenceLimitMs(call.deadline.remainingMs(), queue.waiting());
  let outcome = await attemptOnMemory(deps, call, admitted, silenceMs);
  if (outcome.kind === 'failure' && outcome.failure.wasDead === true) {
    // The call counts twice, because the provider may have seen both. Permit and statistics belong to the second.
    attempts.count += 1;
    attempts.end({ ...admitted, permit: undefined }, outcome.failure, deps.clock.nowMs());
    admitted = queue.renewed(admitted);
    outcome = await attemptOnMemory(deps, call, admitted, silenceMs);
  }
  if (outcome.kind !== 'failure' || outcome.failure.isUnavailable !== true) attempts.count += 1;
  return { admitted, outcome };
}

/** Charges an answer that a provider has finished, even where no client sees it. */
export function chargeAnswer(
  { bill, byok, size }: ProviderCall,
  candidate: Candidate,
  { usage: reported, ...output }: Pick<JsonAnswer, 'usage' | 'outputBytes' | 'units'> | RefusedAnswer,
): Charge {
  return bill.charge({ candidate, reported, output, payer: payerOf(byok, candidate), size });
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
    answered?: Pick<Attempt, 'charge' | 'details' | 'schemaMismatch' | 'reachedVia'>,
  ): void;
}

export function openAttempts(deps: GatewayDependencies, { clientInterface, workspace, scope }: ProviderCall): Attempts {
  const ended: Attempt[] = [];
  const identity = { workspace: workspace.id, callId: scope.correlationId };
  return {
    ended,
    count: 0,
    firstOutputAtMs: undefined,
    end(admitted, outcome, endedAtMs, answered = {}) {
      const { usage } = answered.charge ?? {};
      const tokens = usage === undefined ? 0 : usage.promptTokens + usage.completionTokens;
      const one = { ...admitted, outcome, latencyMs: endedAtMs - admitted.startedAtMs, tokens, ...answered };
      ended.push(one);
      if (clientInterface.seldomOffered === undefined) reportAttempt(deps, one, identity);
    },
  };
}
