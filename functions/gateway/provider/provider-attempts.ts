// Makes the provider calls of a request, within the memory of its body. Counts the calls, and lists ended attempts for
// settlement.
import type { Candidate } from '../../../shared/configuration/catalogue/index.ts';
import { GatewayError } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, storedAnswerMaxBytes } from '../../../shared/foundation/constants/index.ts';
import type { JsonAnswer, UnusedAnswer } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import { type CandidateFormat, chooseFormat } from '../../../shared/routing/formats/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import { type AdmittedCandidate, type Attempt, reportAttempt } from '../../../shared/routing/provider-metrics/index.ts';
import type { AttemptFailure } from '../../../shared/routing/providers/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { PlannedModelCall, ProviderCall, ServedCall, StepLimits } from '../stages.ts';
import { type AttemptOutcome, attemptCandidate } from './attempt-candidate.ts';
import type { CandidateQueue } from './candidate-queue.ts';
import type { AttemptRules } from './create-send.ts';
import type { PreparedCall } from './prepare-call.ts';
import { silenceLimitMs } from './silence.ts';

/** A step of a workflow has limits of its own. */
export function openProviderCall(call: ServedCall, modelCall: PlannedModelCall, step?: StepLimits): ProviderCall {
  const { identified, terms } = call.admitted.planned;
  const { parsed } = identified;
  return {
    parsed,
    identified,
    admitted: call.admitted,
    modelCall,
    terms,
    content: call.content,
    admissionTime: step === undefined ? call.admitted.admissionTime : step.admissionTime,
    cancelSignal: step === undefined ? parsed.scope.cut : step.cancelSignal,
  };
}

interface Calling {
  readonly next: AdmittedCandidate;
  readonly queue: CandidateQueue;
  readonly attempts: Attempts;
}

/** Calls the candidate, and once more if the call went to a socket that had died. */
export async function callNext(deps: GatewayDependencies, call: ProviderCall, { next, queue, attempts }: Calling) {
  let admitted = next;
  const silenceMs = silenceLimitMs(call.parsed.deadline.remainingMs(), queue.remainingEntries());
  let outcome = await attempt(deps, call, admitted, silenceMs);
  if (outcome.kind === 'failure' && outcome.failure.wasDead === true) {
    // The call counts twice, because the provider may have seen both. Permit and statistics belong to the second call.
    attempts.count += 1;
    attempts.end({ ...admitted, permit: undefined }, outcome.failure, deps.clock.nowMs());
    admitted = queue.restart(admitted);
    outcome = await attempt(deps, call, admitted, silenceMs);
  }
  if (outcome.kind !== 'stream') call.modelCall.bodyMemory.allocation.keep('relayedSent');
  if (outcome.kind !== 'failure' || outcome.failure.isUnavailable !== true) attempts.count += 1;
  return { admitted, outcome };
}

/** Calls one candidate within the memory of its request. */
function attempt(
  deps: GatewayDependencies,
  call: ProviderCall,
  admitted: AdmittedCandidate,
  silenceLimitMs: number,
): Promise<AttemptOutcome> {
  const { request, bodyMemory } = call.modelCall;
  const format = chooseFormat(admitted.candidate, request);
  const begin = () => attemptCandidate(deps, call, admitted, rulesOf(call, admitted, { format, silenceLimitMs }));
  const preparing = bodyMemory.prepare(format?.kind === 'relay' ? 'relayed' : 'translated');
  return preparing === undefined ? begin() : preparing.then(begin, failWithoutMemory);
}

/** Returns the error of a body that has no memory as a failure of the attempt. */
function failWithoutMemory(error: unknown): AttemptOutcome {
  if (error instanceof GatewayError) return { kind: 'failure', failure: noMemory(error) };
  throw error;
}

const noMemory = (refusal: GatewayError): AttemptFailure => ({
  kind: 'failed',
  cause: 'no_memory',
  isOurFault: true,
  isUnavailable: true,
  refusal,
});

function rulesOf(
  call: ProviderCall,
  { candidate }: AdmittedCandidate,
  { format, silenceLimitMs }: { readonly format: CandidateFormat | undefined; readonly silenceLimitMs: number },
): Omit<AttemptRules, 'traceparent'> {
  const { request, bodyMemory } = call.modelCall;
  const { clientInterface } = call.parsed;
  const isTranslated = format?.kind !== 'relay';
  return {
    answerMaxBytes: () => clientInterface.answerMaxBytes(request),
    silenceLimitMs,
    answerPath: { isTranslated, isGuarded: call.admitted.guard !== undefined },
    streamCopies: streamCopiesOf(call),
    onPrepared: call.content && ((prepared) => keepSent(call, candidate, format, prepared)),
    onSent: () => bodyMemory.sent(isTranslated ? 'translated' : 'relayed'),
  };
}

/** Returns the bounds of the copies that the cache, the schema check and the Idempotency-Key make of a stream. */
const streamCopiesOf = ({ parsed, admitted: { reservations }, modelCall }: ProviderCall): readonly number[] => [
  ...(reservations.cache?.store === undefined ? [] : [collectedStreamMaxBytes]),
  ...(modelCall.request.schemaCheck === undefined ? [] : [collectedStreamMaxBytes]),
  ...(parsed.idempotencyKey === undefined ? [] : [storedAnswerMaxBytes]),
];

/**
 * Adds the sent body to the content log, which has the client's own body already. The body of a function's model call
 * is not the client's body.
 */
function keepSent(
  { content, parsed, modelCall }: ProviderCall,
  candidate: Candidate,
  format: CandidateFormat | undefined,
  { text, secrets }: PreparedCall,
): void {
  const candidateNames = { provider: candidate.provider.id, model: candidate.model.id };
  const api = format === undefined || format.kind === 'relay' ? modelCall.request.interfaceId : format.api;
  content?.sent(
    { ...candidateNames, format: api, body: text(), secrets },
    format?.kind !== 'relay' || parsed.isFunctionCall,
  );
}

/** Charges an answer that a provider has finished, even if no client sees it. */
export function chargeAnswer(
  call: ProviderCall,
  candidate: Candidate,
  { usage: reported, ...output }: Pick<JsonAnswer, 'usage' | 'outputBytes' | 'units'> | UnusedAnswer,
): Charge {
  const payer = payerOf(call.terms.byok, candidate);
  return call.admitted.bill.charge({ candidate, reported, output, payer, size: call.modelCall.size });
}

/** Attempts of the loop so far. */
interface Attempts {
  readonly ended: readonly Attempt[];
  count: number;
  firstOutputAtMs: number | undefined;
  end(
    admitted: AdmittedCandidate,
    outcome: Attempt['outcome'],
    endedAtMs: number,
    answerValues?: Pick<Attempt, 'charge' | 'details' | 'schemaMismatch' | 'reachedVia'>,
  ): void;
}

export function openAttempts(deps: GatewayDependencies, { parsed, identified }: ProviderCall): Attempts {
  const ended: Attempt[] = [];
  const { clientInterface, scope } = parsed;
  const identity = { workspace: identified.workspace.id, callId: scope.correlationId };
  return {
    ended,
    count: 0,
    firstOutputAtMs: undefined,
    end(admitted, outcome, endedAtMs, answerValues = {}) {
      const { usage } = answerValues.charge ?? {};
      const tokens = usage === undefined ? 0 : usage.promptTokens + usage.completionTokens;
      const one = { ...admitted, outcome, latencyMs: endedAtMs - admitted.startedAtMs, tokens, ...answerValues };
      ended.push(one);
      if (clientInterface.seldomOffered === undefined) reportAttempt(deps, one, identity);
    },
  };
}
