// The provider loop: admit a candidate, call it, classify, until one answers. A fallback happens before the first real
// output or never. What the loop did is its result, also where it failed.
import type { RefusedAnswer } from '../../../shared/protocol/interfaces/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { type AdmittedCandidate, type Attempt, reportAttempt } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall, ProviderRun } from '../provider-call.ts';
import { attemptOnMemory } from './attempt-on-memory.ts';
import { createCandidateQueue } from './candidate-queue.ts';
import { createOutputCheck } from './check-output.ts';
import { conclude, type FailedAttempt } from './conclude.ts';
import { silenceLimitMs } from './silence.ts';

export async function provide(deps: GatewayDependencies, call: ProviderCall): Promise<ProviderRun> {
  const { clock } = deps;
  const { request, payment, signals, times } = call;
  const startedAtMs = clock.nowMs();
  const queue = createCandidateQueue(deps, call);
  const attempts: Attempt[] = [];
  let attemptCount = 0;
  let firstOutputAtMs: number | undefined;

  const endAttempt = (
    admitted: AdmittedCandidate,
    outcome: Attempt['outcome'],
    endedAtMs: number,
    answered: Pick<Attempt, 'tokens' | 'charge' | 'said' | 'schemaMismatch' | 'spoken'> = { tokens: 0 },
  ) => {
    const ended = { ...admitted, outcome, latencyMs: endedAtMs - admitted.startedAtMs, ...answered };
    attempts.push(ended);
    if (request.clientInterface.measuresProviders)
      reportAttempt(deps, ended, { workspace: payment.workspace, callId: signals.correlationId });
  };

  async function run(): Promise<ProviderRun['result']> {
    const output = createOutputCheck(call);
    const failures: FailedAttempt[] = [];
    while (queue.waiting() > 0 && !times.deadline.isOver() && !isCancelled(signals)) {
      let admitted = await queue.next();
      if ('retryAfterSeconds' in admitted) {
        failures.push({ kind: 'rate_limited', retryAfterSeconds: admitted.retryAfterSeconds, cause: 'own_limit' });
        break;
      }
      const silenceMs = silenceLimitMs(times.deadline.remainingMs(), queue.waiting());
      let outcome = await attemptOnMemory(deps, call, admitted, silenceMs);
      if (outcome.kind === 'failure' && outcome.failure.wasDead === true) {
        // Once more, and counted: the provider may have seen both. The slot and what it tells of the provider are the second one's.
        attemptCount += 1;
        endAttempt({ ...admitted, permit: undefined }, outcome.failure, clock.nowMs());
        admitted = queue.renewed(admitted);
        outcome = await attemptOnMemory(deps, call, admitted, silenceMs);
      }
      if (outcome.kind !== 'failure' || outcome.failure.isUnavailable !== true) attemptCount += 1;
      if (outcome.kind === 'failure') {
        const { failure } = outcome;
        failures.push({ ...failure, byok: payment.byok?.sourceOf(admitted.candidate) });
        if (failure.refusedAnswer === undefined) {
          endAttempt(admitted, failure, clock.nowMs());
          // It would be refused again, after the same wait.
          if (failure.refusal !== undefined) break;
          continue;
        }
        // It is paid for: another provider would be paid once more.
        const charge = chargeRefused(call, admitted, failure.refusedAnswer);
        const tokens = charge.usage.promptTokens + charge.usage.completionTokens;
        endAttempt(admitted, failure, clock.nowMs(), { tokens, charge });
        break;
      }
      firstOutputAtMs = outcome.answeredAtMs;
      if (outcome.kind === 'stream') {
        call.keptBody?.letGo();
        // The attempt of a stream ends with the stream.
        return { ...outcome, admitted };
      }
      const { answer, spoken, release } = outcome;
      const { charge, verdict } = await output.check(admitted, answer);
      const tokens = charge.usage.promptTokens + charge.usage.completionTokens;
      const schemaMismatch = verdict.kind === 'mismatch' ? verdict.mismatch : undefined;
      // Not the answer itself: an attempt lives until the call is settled.
      const said = { model: answer.model, finishReasons: answer.finishReasons };
      endAttempt(admitted, 'ok', outcome.answeredAtMs, { tokens, charge, said, schemaMismatch, spoken });
      if (verdict.kind === 'accepted') {
        call.keptBody?.letGo();
        return { kind: 'json', answer: verdict.answer, release, admitted, spoken };
      }
      release();
      if (!verdict.mayBeAsked) break;
      queue.again(admitted.candidate);
    }
    const schemaMismatch = output.lastMismatch();
    const details = { attempts: attemptCount, deadlineIsOver: times.deadline.isOver(), schemaMismatch };
    return { kind: 'failed', error: conclude(call, failures, details) };
  }

  const result = await run().catch((error: unknown) => ({ kind: 'failed', error }) as const);
  const upstreamMs = clock.nowMs() - startedAtMs;
  const left = { queuedMs: queue.queuedMs(), unusedPermit: queue.unusedPermit() };
  return { attempts, attemptCount, ...left, upstreamMs, firstOutputAtMs, result };
}

function chargeRefused(
  { request, payment }: ProviderCall,
  { candidate }: AdmittedCandidate,
  { usage: reported, ...output }: RefusedAnswer,
): Charge {
  const payer = payerOf(payment.byok, candidate);
  return payment.bill.charge({ candidate, reported, output, payer, size: request.size });
}

const isCancelled = ({ clientGone, stopped }: ProviderCall['signals']): boolean =>
  clientGone.aborted || stopped?.aborted === true;
