// The answer: JSON or an event stream, with the gateway's fields and headers, and the outcome for settlement.

import { GatewayError } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, headerNames } from '../../../shared/foundation/constants/index.ts';
import { awaitAll } from '../../../shared/foundation/parallel/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { ReachedVia } from '../../../shared/routing/formats/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { decisionOf, passAnswer, respondWith } from '../exit/exit.ts';
import type { ProvidedAnswer, ProviderRun } from '../provider-call.ts';
import type { AdmittedCall, CallResult, EndedCall, RoutedCall, ServedCall } from '../stages.ts';
import { chargedCost } from './answer-cost.ts';
import { type AnsweredCall, sourceOf } from './answered-call.ts';
import { cacheWriter } from './cacheable-events.ts';
import { AnswerStream } from './event-stream.ts';
import { leftOutHeader } from './left-out-header.ts';
import { openStoringAccountMemory } from './remember-storing-account.ts';

interface Responded {
  readonly response: GatewayResponse;
  /** Called once, after the last byte. */
  readonly end: () => Omit<EndedCall, 'run' | 'error'>;
}

/** Length up to which a body is copied, counted or written within a few milliseconds. */
const longBodyCharacters = 4 * 1024 * 1024;

export async function respond(
  deps: GatewayDependencies,
  call: ServedCall<RoutedCall>,
  provideRun: ProviderRun,
  provided: ProvidedAnswer,
): Promise<CallResult> {
  const { admitted } = call;
  const { identified, effective } = admitted.planned;
  const { request, size } = effective;
  // A schema is checked before a guardrail masks text that the schema describes.
  const schemaCheck = provided.kind === 'stream' ? request.schemaCheck?.openStream(identified.schemaWork) : undefined;
  const seen = schemaCheck === undefined ? provided : withEventsSeen(provided, schemaCheck.add);
  const passing = passAnswer(decisionOf(admitted.guard), seen, size.choices);
  const passed = passing instanceof Promise ? await passing : passing;
  if (passed instanceof GatewayError) return failedRun(provideRun, passed);
  const run = withLeftOut(provideRun, passed.reachedVia);
  const answered = { call, run, provided: passed, headers: servedHeaders(deps, admitted, run, passed) };
  const isJson = passed.kind === 'json';
  const { response, end } = isJson
    ? await jsonResponse(deps, answered, passed)
    : streamResponse(deps, { ...answered, stream: passed.stream, schemaCheck });
  const refusal = isJson ? undefined : passed.stream.refusal;
  if (refusal === undefined) return { response, end: () => endedCall(run, undefined, end()) };
  // The rest is read to its end without being sent, so that its usage is charged.
  await response.finish?.();
  return { response: undefined, error: refusal, ended: endedCall(run, refusal, end()) };
}

const endedCall = (
  run: ProviderRun,
  error: GatewayError | undefined,
  { stream, writeCache }: ReturnType<Responded['end']>,
): EndedCall => ({ run, error, stream, writeCache });

const failedRun = (run: ProviderRun, error: GatewayError): CallResult => ({
  response: undefined,
  error,
  ended: { run, error, stream: undefined, writeCache: undefined },
});

/** Adds the parts that a guardrail dropped to the parts that the format could not express, for the record. */
function withLeftOut(run: ProviderRun, reachedVia: ReachedVia): ProviderRun {
  const last = run.attempts.at(-1);
  if (last?.reachedVia === undefined || last.reachedVia.leftOut.length === reachedVia.leftOut.length) return run;
  return { ...run, attempts: [...run.attempts.slice(0, -1), { ...last, reachedVia }] };
}

type ProvidedStream = Extract<ProvidedAnswer, { readonly kind: 'stream' }>;

/** Returns the same answer. `see` is called with each of its events before anything of it is changed. */
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

async function jsonResponse(
  deps: GatewayDependencies,
  answered: AnsweredCall,
  { answer, release }: Extract<ProvidedAnswer, { readonly kind: 'json' }>,
): Promise<Responded> {
  const { call, provided, headers } = answered;
  const { planned, bill, claims } = call.admitted;
  const charge = bill.charges.at(-1);
  if (charge === undefined) throw new Error('an answer was given that nothing was charged for');
  const written = planned.effective.request.writeAnswer(answer, chargedCost(answered, charge, answer.usage));
  // Later steps read the whole body again.
  if (written.body.length > longBodyCharacters) await nextTurn();
  const answerHeaders = { ...headers, ...jsonHeaders, ...written.headers };
  const response = { ...respondWith(provided, { headers: answerHeaders, body: written.body }), body: written.body };
  const { text } = answer;
  const writeCache = jsonCacheWriter(deps, answered, charge, text);
  // Only the cache still needs the provider's own text.
  release({ written: written.body.length, text: writeCache === undefined ? 0 : text.length });
  const storingAccountMemory = openStoringAccountMemory(deps, planned, provided);
  storingAccountMemory.hear(answer);
  const last = awaitAll([
    claims.store(response, sourceOf(provided)),
    call.settleEarly?.(),
    storingAccountMemory.written(),
  ]);
  if (last !== undefined) await last;
  return { response, end: () => ({ stream: undefined, writeCache }) };
}

/**
 * Returns the cache's writer. It is a function of its own, so that the end of the call does not refer to the text
 * longer than the cache needs it.
 */
const jsonCacheWriter = (deps: GatewayDependencies, answered: AnsweredCall, charge: Charge, text: string) =>
  cacheWriter(deps, answered.call.admitted, answered.provided.reachedVia, charge, () =>
    text.length > collectedStreamMaxBytes ? undefined : { kind: 'json', text },
  );

function streamResponse(deps: GatewayDependencies, streamed: ConstructorParameters<typeof AnswerStream>[1]): Responded {
  const events = new AnswerStream(deps, streamed);
  const { headers, body } = events;
  const closeBroken = (why: 'failed' | 'over_time') => events.closeBroken(why);
  const response = respondWith(streamed.provided, { headers, body, closeBroken, finish: () => events.readOn() });
  return { response, end: () => events.ended() };
}

function servedHeaders(
  { clock }: GatewayDependencies,
  { planned, holdings: { cache } }: AdmittedCall,
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
