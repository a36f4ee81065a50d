// Writes the answer to the client, as JSON or as an event stream, with the gateway's fields and headers, and returns the
// outcome for settlement.

import { GatewayError } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, headerNames } from '../../../shared/foundation/constants/index.ts';
import { awaitAll } from '../../../shared/foundation/parallel/index.ts';
import { inOneTurn, nextTurn } from '../../../shared/foundation/time/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent, WrittenAnswer } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { ReachedVia } from '../../../shared/routing/formats/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { decisionOf, type PassedOrError, passAnswer, respondWith } from '../exit/exit.ts';
import type { ProvidedAnswer, ProviderRun } from '../provider-call.ts';
import type { AdmittedCall, CallResult, EndedCall, RoutedCall, ServedCall } from '../stages.ts';
import { chargedCost } from './answer-cost.ts';
import { type AnsweredCall, sourceOf } from './answered-call.ts';
import { cacheWriter } from './cacheable-events.ts';
import { AnswerStream, type StreamedCall } from './event-stream.ts';
import { leftOutHeader } from './left-out-header.ts';
import { openStoringAccountWriter } from './remember-storing-account.ts';

export function respond(
  deps: GatewayDependencies,
  call: ServedCall<RoutedCall>,
  providerRun: ProviderRun,
  provided: ProvidedAnswer,
): CallResult | Promise<CallResult> {
  const { admitted } = call;
  const { identified, effective } = admitted.planned;
  const { request, size } = effective;
  // A schema is checked before a guardrail masks text that the schema describes.
  const schemaCheck = provided.kind === 'stream' ? request.schemaCheck?.openStream(identified.schemaWork) : undefined;
  const observedAnswer = schemaCheck === undefined ? provided : withEventsSeen(provided, schemaCheck.add);
  const guardResult = passAnswer(decisionOf(admitted.guard), observedAnswer, size.choices);
  const answer = (passed: PassedOrError): CallResult | Promise<CallResult> => {
    if (passed instanceof GatewayError) return failedRun(providerRun, passed);
    const run = withLeftOut(providerRun, passed.reachedVia);
    const answer = { call, run, provided: passed, headers: routingHeaders(deps, admitted, run, passed) };
    return passed.kind === 'json'
      ? jsonResult(deps, answer, passed)
      : streamResult(deps, { ...answer, stream: passed.stream, schemaCheck });
  };
  return guardResult instanceof Promise ? guardResult.then(answer) : answer(guardResult);
}

function streamResult(deps: GatewayDependencies, streamed: StreamedCall): CallResult | Promise<CallResult> {
  const { run, provided, stream } = streamed;
  const { refusal } = stream;
  const events = new AnswerStream(deps, streamed);
  const endedWith = (error: GatewayError | undefined): EndedCall => {
    const { stream, writeCache } = events.ended();
    return { run, error, stream, writeCache };
  };
  if (refusal !== undefined) {
    // The rest is read to its end without being sent, so that its usage is charged.
    return events.drain().then(() => ({ response: undefined, error: refusal, ended: endedWith(refusal) }));
  }
  const { headers, body } = events;
  const errorEndText = (why: 'failed' | 'timed_out') => events.errorEndText(why);
  const response = respondWith(provided, { headers, body, errorEndText, finish: () => events.drain() });
  return { response, end: () => endedWith(undefined) };
}

const failedRun = (run: ProviderRun, error: GatewayError): CallResult => ({
  response: undefined,
  error,
  ended: { run, error, stream: undefined, writeCache: undefined },
});

/** Adds the parts that a guardrail dropped to the last attempt, so that the call's record lists these parts. */
function withLeftOut(run: ProviderRun, reachedVia: ReachedVia): ProviderRun {
  const last = run.attempts.at(-1);
  if (last?.reachedVia === undefined || last.reachedVia.leftOut.length === reachedVia.leftOut.length) return run;
  return { ...run, attempts: [...run.attempts.slice(0, -1), { ...last, reachedVia }] };
}

type ProvidedStream = Extract<ProvidedAnswer, { readonly kind: 'stream' }>;

/** Returns the same answer. `see` is called with each event before the event is changed. */
function withEventsSeen(provided: ProvidedStream | ProvidedAnswer, see: (event: AnswerEvent) => void): ProvidedAnswer {
  if (provided.kind !== 'stream') return provided;
  const { opening, rest } = provided.stream;
  for (const event of opening) see(event);
  async function* seen() {
    for await (const batch of rest) {
      for (const event of batch.events) see(event);
      yield batch;
    }
  }
  return { ...provided, stream: { ...provided.stream, rest: seen() } };
}

type ProvidedJson = Extract<ProvidedAnswer, { readonly kind: 'json' }>;

function jsonResult(
  deps: GatewayDependencies,
  answeredCall: AnsweredCall,
  provided: ProvidedJson,
): CallResult | Promise<CallResult> {
  const { planned, bill } = answeredCall.call.admitted;
  const charge = bill.charges.at(-1);
  if (charge === undefined) throw new Error('the answer has no charge');
  const written = planned.effective.request.writeAnswer(
    provided.answer,
    chargedCost(answeredCall, charge, provided.answer.usage),
  );
  const respondWritten = () => writtenResult(deps, answeredCall, provided, { charge, written });
  // The next steps read the long body again, so other calls get a turn of the event loop first.
  return written.body.length > inOneTurn.passedBytes ? nextTurn().then(respondWritten) : respondWritten();
}

function writtenResult(
  deps: GatewayDependencies,
  answeredCall: AnsweredCall,
  { answer, release }: ProvidedJson,
  { charge, written }: { readonly charge: Charge; readonly written: WrittenAnswer },
): CallResult | Promise<CallResult> {
  const { call, run, provided, headers } = answeredCall;
  const { planned, claims } = call.admitted;
  const answerHeaders = { ...headers, ...jsonHeaders, ...written.headers };
  const response = { ...respondWith(provided, { headers: answerHeaders, body: written.body }), body: written.body };
  const { text } = answer;
  const writeCache = jsonCacheWriter(deps, answeredCall, charge, text);
  // Only the cache still needs the provider's own text.
  release({ written: written.body.length, text: writeCache === undefined ? 0 : text.length });
  const storingAccount = openStoringAccountWriter(deps, planned, provided);
  storingAccount.add(answer);
  const last = awaitAll([
    claims.store(response, sourceOf(provided)),
    call.settleEarly?.(),
    storingAccount.whenWritten(),
  ]);
  const result = { response, end: wholeEnd(run, writeCache) };
  return last === undefined ? result : last.then(() => result);
}

/** Returns a function that stays in memory until the call is settled, and does not refer to the answer. */
const wholeEnd =
  (run: ProviderRun, writeCache: EndedCall['writeCache']): (() => EndedCall) =>
  () => ({ run, error: undefined, stream: undefined, writeCache });

/**
 * Returns the cache's writer. This function is separate, so that the `end` closure does not refer to the text longer
 * than the cache needs the text.
 */
const jsonCacheWriter = (deps: GatewayDependencies, answeredCall: AnsweredCall, charge: Charge, text: string) =>
  cacheWriter(deps, answeredCall.call.admitted, answeredCall.provided.reachedVia, charge, () =>
    text.length > collectedStreamMaxBytes ? undefined : { kind: 'json', text },
  );

function routingHeaders(
  { clock }: GatewayDependencies,
  { planned, reservations: { cache } }: AdmittedCall,
  { upstreamMs }: ProviderRun,
  provided: ProvidedAnswer,
): Record<string, string> {
  const { arrivedAtMs } = planned.identified.parsed;
  const gatewayMs = Math.max(0, clock.nowMs() - arrivedAtMs - upstreamMs);
  const { model, provider } = sourceOf(provided);
  const { leftOut } = provided.reachedVia;
  return {
    [headerNames.model]: model,
    [headerNames.provider]: provider,
    [headerNames.serverTiming]: `gw;dur=${gatewayMs}`,
    ...(cache === undefined ? {} : { [headerNames.cache]: cache.outcome }),
    ...leftOutHeader(leftOut),
  };
}
