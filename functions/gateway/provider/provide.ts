// Is the provider loop, which admits a candidate, calls it and classifies the outcome, until a candidate answers. A
// fallback happens before the first real output or never. The result also describes what the loop did if it failed.
import { servingApis } from '../../../shared/foundation/constants/index.ts';
import type { AdmittedCandidate } from '../../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { ProvidedAnswer, ProviderOutcome } from '../provider-call.ts';
import type { PlannedModelCall, ProviderCall, ServedCall, StepLimits } from '../stages.ts';
import type { AttemptOutcome } from './attempt-candidate.ts';
import { createCandidateQueue } from './candidate-queue.ts';
import { type CheckedOutput, createOutputCheck } from './check-output.ts';
import type { FailedAttempt } from './conclude.ts';
import { callNext, chargeAnswer, openAttempts, openProviderCall } from './provider-attempts.ts';

/** `step` is undefined for the model call of a plain call or of a prompt. */
export function provide(
  deps: GatewayDependencies,
  servedCall: ServedCall,
  modelCall: PlannedModelCall,
  step?: StepLimits,
): Promise<ProviderOutcome> {
  const startedAtMs = deps.clock.nowMs();
  const loop = openLoop(deps, openProviderCall(servedCall, modelCall, step));
  const end = (result: ProviderOutcome['result']): ProviderOutcome => {
    const upstreamMs = deps.clock.nowMs() - startedAtMs;
    const { ended, count: attemptCount, firstOutputAtMs } = loop.attempts;
    const [queuedMs, unusedPermit] = [loop.queue.queuedMs(), loop.queue.unusedPermit()];
    return { run: { attempts: ended, attemptCount, queuedMs, upstreamMs, firstOutputAtMs, unusedPermit }, result };
  };
  return callUntilAnswered(loop).then(end, (error: unknown) => end({ kind: 'failed', error }));
}

/** Opens the loop of one call, with the candidates and their attempts. */
const openLoop = (deps: GatewayDependencies, call: ProviderCall) => ({
  deps,
  call,
  queue: createCandidateQueue(deps, call),
  attempts: openAttempts(deps, call),
  output: createOutputCheck(call),
  failures: [] as FailedAttempt[],
});

type ProviderLoop = ReturnType<typeof openLoop>;

async function callUntilAnswered(loop: ProviderLoop): Promise<ProviderOutcome['result']> {
  const { deps, call, queue, attempts, output, failures } = loop;
  while (mayCall(loop)) {
    const asking = queue.next();
    const next = asking instanceof Promise ? await asking : asking;
    if ('retryAfterSeconds' in next) {
      failures.push({ kind: 'rate_limited', retryAfterSeconds: next.retryAfterSeconds, cause: 'own_limit' });
      break;
    }
    const { admitted, outcome } = await callNext(deps, call, { next, queue, attempts });
    const accepting =
      outcome.kind === 'failure' ? fallBack(loop, admitted, outcome.failure) : accept(loop, admitted, outcome);
    const after = accepting instanceof Promise ? await accepting : accepting;
    if (after === 'end') break;
    if (after !== 'next') return after;
  }
  const [deadlineIsOver, schemaMismatch] = [call.parsed.deadline.isOver(), output.lastMismatch()];
  // The module is loaded with the first call that no provider has answered.
  const { conclude } = await import('./conclude.ts');
  const error = conclude(call, failures, { attempts: attempts.count, deadlineIsOver, schemaMismatch });
  return { kind: 'failed', error };
}

/** True while the client is connected and the call was not stopped. */
const mayCall = ({ queue, call: { parsed, cancelSignal: cancel } }: ProviderLoop): boolean =>
  queue.remainingEntries() > 0 && !parsed.deadline.isOver() && !parsed.scope.clientGone.aborted && !cancel?.aborted;

/** Decides whether another candidate is called after a failure. */
function fallBack(
  { deps, call, queue, attempts, failures }: ProviderLoop,
  admitted: AdmittedCandidate,
  failure: AttemptFailure,
): 'next' | 'end' {
  const { candidate } = admitted;
  failures.push({ ...failure, byok: call.terms.byok?.sourceOf(candidate), provider: candidate.provider.id });
  queue.skipEntry(candidate, failure);
  const { unusedAnswer, refusal } = failure;
  const charge = unusedAnswer && chargeAnswer(call, candidate, unusedAnswer);
  attempts.end(admitted, failure, deps.clock.nowMs(), { charge });
  // A charged answer would be paid for once more; memory would be refused again, after the same wait.
  return charge !== undefined || refusal !== undefined ? 'end' : 'next';
}

/** Returns the answer. If it fails its schema, decides whether the candidate is called again. */
function accept(
  { call: { parsed, modelCall }, queue, attempts, output }: ProviderLoop,
  admitted: AdmittedCandidate,
  outcome: Exclude<AttemptOutcome, { readonly kind: 'failure' }>,
): ProvidedAnswer | 'next' | 'end' | Promise<ProvidedAnswer | 'next' | 'end'> {
  attempts.firstOutputAtMs = outcome.answeredAtMs;
  if (outcome.kind === 'stream') {
    const isRelayed = outcome.reachedVia.format === servingApis[parsed.clientInterface.id].native;
    modelCall.bodyMemory.letGo(isRelayed ? undefined : 'translatedStream');
    // The attempt of a stream ends with the stream.
    return { ...outcome, admitted };
  }
  const { answer, reachedVia, release } = outcome;
  const judge = ({ charge, verdict }: CheckedOutput): ProvidedAnswer | 'next' | 'end' => {
    const schemaMismatch = verdict.kind === 'mismatch' ? verdict.mismatch : undefined;
    // This attempt does not refer to the answer, because an attempt is in memory until the call is settled.
    const details = { model: answer.model, finishReasons: answer.finishReasons };
    attempts.end(admitted, 'ok', outcome.answeredAtMs, { charge, details, schemaMismatch, reachedVia });
    if (verdict.kind === 'accepted') {
      modelCall.bodyMemory.letGo();
      return { kind: 'json', answer: verdict.answer, release, admitted, reachedVia };
    }
    release();
    if (verdict.mayRetry) queue.putBack(admitted.candidate);
    return verdict.mayRetry ? 'next' : 'end';
  };
  const checking = output.check(admitted, answer);
  return checking instanceof Promise ? checking.then(judge) : judge(checking);
}
