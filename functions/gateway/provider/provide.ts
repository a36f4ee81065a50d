// The provider loop: admit a candidate, call it, classify, until one answers. A fallback happens before the first real
// output or never. What the loop did is its result, also where it failed.
import type { RefusedAnswer } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProviderCall, ProviderRun } from '../provider-call.ts';
import { type CandidateQueue, createCandidateQueue } from './candidate-queue.ts';
import { createOutputCheck } from './check-output.ts';
import type { FailedAttempt } from './conclude.ts';
import { type Attempts, callNext, openAttempts } from './provider-attempts.ts';

export async function provide(deps: GatewayDependencies, call: ProviderCall): Promise<ProviderRun> {
  const { clock } = deps;
  const startedAtMs = clock.nowMs();
  const queue = createCandidateQueue(deps, call);
  const attempts = openAttempts(deps, call);
  const result = await callUntilAnswered(deps, call, queue, attempts).catch(
    (error: unknown) => ({ kind: 'failed', error }) as const,
  );
  const upstreamMs = clock.nowMs() - startedAtMs;
  const { ended, count: attemptCount, firstOutputAtMs } = attempts;
  const left = { queuedMs: queue.queuedMs(), unusedPermit: queue.unusedPermit() };
  return { attempts: ended, attemptCount, ...left, upstreamMs, firstOutputAtMs, result };
}

async function callUntilAnswered(
  deps: GatewayDependencies,
  call: ProviderCall,
  queue: CandidateQueue,
  attempts: Attempts,
): Promise<ProviderRun['result']> {
  const { clock } = deps;
  const { payment, signals, times } = call;
  const output = createOutputCheck(call);
  const failures: FailedAttempt[] = [];
  while (queue.waiting() > 0 && !times.deadline.isOver() && !isCancelled(signals)) {
    const next = await queue.next();
    if ('retryAfterSeconds' in next) {
      failures.push({ kind: 'rate_limited', retryAfterSeconds: next.retryAfterSeconds, cause: 'own_limit' });
      break;
    }
    const { admitted, outcome } = await callNext(deps, call, { next, queue, attempts });
    if (outcome.kind === 'failure') {
      const { failure } = outcome;
      const { candidate } = admitted;
      failures.push({ ...failure, byok: payment.byok?.sourceOf(candidate), provider: candidate.provider.id });
      queue.failed(admitted.candidate, failure);
      const { refusedAnswer } = failure;
      // It is paid for: another provider would be paid once more.
      const charge = refusedAnswer && chargeRefused(call, admitted, refusedAnswer);
      attempts.end(admitted, failure, clock.nowMs(), { charge });
      // No memory would be refused again, after the same wait.
      if (charge !== undefined || failure.refusal !== undefined) break;
      continue;
    }
    attempts.firstOutputAtMs = outcome.answeredAtMs;
    if (outcome.kind === 'stream') {
      call.keptBody?.letGo();
      // The attempt of a stream ends with the stream.
      return { ...outcome, admitted };
    }
    const { answer, reachedVia, release } = outcome;
    const { charge, verdict } = await output.check(admitted, answer);
    const schemaMismatch = verdict.kind === 'mismatch' ? verdict.mismatch : undefined;
    // Not the answer itself: an attempt lives until the call is settled.
    const said = { model: answer.model, finishReasons: answer.finishReasons };
    attempts.end(admitted, 'ok', outcome.answeredAtMs, { charge, said, schemaMismatch, reachedVia });
    if (verdict.kind === 'accepted') {
      call.keptBody?.letGo();
      return { kind: 'json', answer: verdict.answer, release, admitted, reachedVia };
    }
    release();
    if (!verdict.mayBeAsked) break;
    queue.again(admitted.candidate);
  }
  const schemaMismatch = output.lastMismatch();
  const details = { attempts: attempts.count, deadlineIsOver: times.deadline.isOver(), schemaMismatch };
  // Loaded with the first call that no provider has answered.
  const { conclude } = await import('./conclude.ts');
  return { kind: 'failed', error: conclude(call, failures, details) };
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
