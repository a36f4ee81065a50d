// The answer: JSON or an event stream, with the gateway's fields and headers, and the outcome for settlement.

import { GatewayError } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, headerNames, servingApis } from '../../../shared/foundation/constants/index.ts';
import { allBegun } from '../../../shared/foundation/parallel/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { StreamSchemaCheck, StreamWriter } from '../../../shared/protocol/interfaces/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';
import { type Charge, unseenOutputTokens } from '../../../shared/routing/billing/index.ts';
import type { ReachedVia } from '../../../shared/routing/formats/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { answerStatus, decisionOf, type Passed, passAnswer, respondWith } from '../exit/exit.ts';
import type { OpenStream, ProvidedAnswer } from '../provider-call.ts';
import type { AdmittedPlain, AnswerSource, CallResult, EndedCall } from '../stages.ts';
import { chargedCost } from './answer-cost.ts';
import { cacheWriter, keepEvents } from './cacheable-events.ts';
import { type RelayedStream, relayStream } from './event-stream.ts';
import { leftOutHeader } from './left-out-header.ts';
import { openStoringAccountMemory } from './remember-storing-account.ts';
import { bytesTypeOf, streamHeadersOf } from './stream-type.ts';

interface Responded {
  readonly response: GatewayResponse;
  /** Called once, after the last byte. */
  readonly end: () => Omit<EndedCall, 'run' | 'error'>;
}

/** Copied, counted or written in a few milliseconds. */
const longBodyCharacters = 4 * 1024 * 1024;

/** An answer that a provider has given for this call. */
interface AnsweredCall {
  readonly call: AdmittedPlain;
  readonly run: EndedCall['run'];
  readonly provided: Passed<ProvidedAnswer>;
  readonly headers: Readonly<Record<string, string>>;
}

export async function respond(
  deps: GatewayDependencies,
  call: AdmittedPlain,
  provideRun: EndedCall['run'],
  provided: ProvidedAnswer,
): Promise<CallResult> {
  // A schema is checked before a guardrail masks what it describes.
  const schemaCheck = provided.kind === 'stream' ? call.request.schemaCheck?.openStream(call.schemaWork) : undefined;
  const seen = schemaCheck === undefined ? provided : withEventsSeen(provided, schemaCheck.add);
  const passed = await passAnswer(decisionOf(call.guard), seen, call.size.choices);
  if (passed instanceof GatewayError) return failedRun(provideRun, passed);
  const run = withLeftOut(provideRun, passed.reachedVia);
  const answered = { call, run, provided: passed, headers: servedHeaders(deps, call, run, passed) };
  const isJson = passed.kind === 'json';
  const { response, end } = isJson
    ? await jsonResponse(deps, answered, passed)
    : streamResponse(deps, answered, passed.stream, schemaCheck);
  const refusal = isJson ? undefined : passed.stream.refusal;
  if (refusal === undefined) return { response, end: () => ({ run, error: undefined, ...end() }) };
  // Read to its end unseen, so that it is paid.
  await response.finish?.();
  return { response: undefined, error: refusal, ended: { run, error: refusal, ...end() } };
}

const failedRun = (run: EndedCall['run'], error: GatewayError): CallResult => ({
  response: undefined,
  error,
  ended: { run, error, stream: undefined, writeCache: undefined },
});

/** Parts that a guardrail has dropped are in the record, beside parts that the format had no words for. */
function withLeftOut(run: EndedCall['run'], reachedVia: ReachedVia): EndedCall['run'] {
  const last = run.attempts.at(-1);
  if (last?.reachedVia === undefined || last.reachedVia.leftOut.length === reachedVia.leftOut.length) return run;
  return { ...run, attempts: [...run.attempts.slice(0, -1), { ...last, reachedVia }] };
}

type ProvidedStream = Extract<ProvidedAnswer, { readonly kind: 'stream' }>;

/** The same answer. `see`: called with each of its events, before anything of it is changed. */
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

/** The text of the answer, and its bytes for the client. */
const formsForClient = 2;

async function jsonResponse(
  deps: GatewayDependencies,
  answered: AnsweredCall,
  { answer, release }: Extract<ProvidedAnswer, { readonly kind: 'json' }>,
): Promise<Responded> {
  const { call, run, provided, headers } = answered;
  const charge = call.bill.charges.at(-1);
  if (charge === undefined) throw new Error('an answer was given that nothing was charged for');
  const written = call.request.writeAnswer(answer, chargedCost(call, run, provided, charge, answer.usage));
  // Later steps read all of it.
  if (written.body.length > longBodyCharacters) await nextTurn();
  const answerHeaders = { ...headers, ...jsonHeaders, ...written.headers };
  const response = { ...respondWith(provided, { headers: answerHeaders, body: written.body }), body: written.body };
  const { text } = answer;
  const writeCache = jsonCacheWriter(deps, answered, charge, text);
  // The provider's own text lives on for the cache alone.
  release(formsForClient * written.body.length + (writeCache === undefined ? 0 : text.length));
  const storingAccountMemory = openStoringAccountMemory(deps, call, provided);
  storingAccountMemory.hear(answer);
  await allBegun([
    call.claims.store(response, sourceOf(provided)),
    call.settleEarly?.(),
    storingAccountMemory.written(),
  ]);
  return { response, end: () => ({ stream: undefined, writeCache }) };
}

/** A provider of the client's own interface sends its own. */
function keepAliveOf(
  { clientInterface, request }: AdmittedPlain,
  { reachedVia }: ProvidedAnswer,
  { ping }: StreamWriter,
): string | undefined {
  const isRelayed = reachedVia.format === servingApis[clientInterface.id].native;
  return (isRelayed ? undefined : ping) ?? request.streamForm?.keepAlive;
}

/** A function of its own, so that the end of the call does not keep the text longer than the cache needs it. */
const jsonCacheWriter = (deps: GatewayDependencies, answered: AnsweredCall, charge: Charge, text: string) =>
  cacheWriter(deps, answered.call, answered.provided.reachedVia, charge, () =>
    text.length > collectedStreamMaxBytes ? undefined : { kind: 'json', text },
  );

function streamResponse(
  deps: GatewayDependencies,
  answered: AnsweredCall,
  stream: OpenStream,
  schemaCheck: StreamSchemaCheck | undefined,
): Responded {
  const { call, run, provided, headers } = answered;
  const { request, holdings, claims, scope } = call;
  const bytesType = bytesTypeOf(stream.opening);
  const answer = { headers: { ...headers, ...streamHeadersOf(bytesType ?? request.streamForm?.contentType) } };
  const writer = request.openStreamWriter(call.scope.baseUrlRules);
  const isCached = holdings.cache?.store !== undefined;
  const cacheableEvents = keepEvents(isCached);
  const storingAccountMemory = openStoringAccountMemory(deps, call, provided);
  let streamCharge: Charge | undefined;
  const charge = (): Charge => {
    streamCharge ??= chargeStream(call, provided, relayed, deps.clock.nowMs());
    return streamCharge;
  };
  const { body, relayed, readOn } = relayStream(stream, {
    clock: deps.clock,
    keepAlive: bytesType === undefined ? keepAliveOf(call, provided, writer) : '',
    isBytes: bytesType !== undefined,
    writer,
    cost: () => chargedCost(call, run, provided, charge(), relayed.usage),
    copies: {
      count: [isCached, call.idempotencyKey !== undefined, schemaCheck !== undefined].filter(Boolean).length,
      memory: scope.memory,
      drop() {
        cacheableEvents.drop();
        schemaCheck?.drop();
      },
    },
    onEvent: (event) => {
      storingAccountMemory.hear(event.details);
      cacheableEvents.add?.(event);
    },
    onComplete:
      call.idempotencyKey === undefined
        ? undefined
        : (transcript) => claims.store({ status: answerStatus, ...answer, body: transcript }, sourceOf(provided)),
    onEnd: async () => {
      // The charge is made with the release of the slots.
      if (call.settleEarly !== undefined) charge();
      await allBegun([call.settleEarly?.(), storingAccountMemory.written()]);
    },
    schemaCheck,
    onBroken: () => claims.release({ isRetryable: true, reachedProvider: true })?.catch(() => {}),
  });
  const closeBroken = (why: 'failed' | 'over_time') =>
    writer.broken(why === 'failed' ? 'no_available_provider' : 'request_deadline_exceeded');
  const response = respondWith(provided, { ...answer, body, closeBroken, finish: readOn });
  const end = () => {
    const charged = charge();
    const { usage } = charged;
    const { startedAtMs } = provided.admitted;
    const firstOutputMs = run.firstOutputAtMs === undefined ? undefined : run.firstOutputAtMs - startedAtMs;
    // Undefined only where a fault of ours ended the relay: it says nothing about the provider.
    const outcome = relayed.end ?? ({ kind: 'client_gone', cause: 'client_gone' } as const);
    const attempt = {
      ...provided.admitted,
      reachedVia: provided.reachedVia,
      outcome: outcome === 'complete' || outcome === 'schema_mismatch' ? ('ok' as const) : outcome,
      latencyMs: deps.clock.nowMs() - startedAtMs,
      firstOutputMs,
      tokens: usage.promptTokens + usage.completionTokens,
      charge: charged,
      schemaMismatch: relayed.schemaMismatch,
      details: { model: relayed.model, finishReasons: relayed.finishReasons },
    };
    const content = outcome === 'complete' ? cacheableEvents.content() : undefined;
    const writeCache = content && cacheWriter(deps, call, provided.reachedVia, charge(), () => content);
    return { stream: { end: relayed.end, attempt }, writeCache };
  };
  return { response, end };
}

function chargeStream(
  call: AdmittedPlain,
  { admitted: { candidate, startedAtMs } }: ProvidedAnswer,
  relayed: RelayedStream,
  nowMs: number,
): Charge {
  // The last report of a stream that ended well is believed, also a zero.
  const isWhole = relayed.end === 'complete' || relayed.end === 'schema_mismatch';
  const bytesAfterUsage = isWhole ? relayed.outputBytesAfterUsage : relayed.outputBytesAfterCount;
  const units = { images: { count: 0 }, ...relayed.units };
  const seen = { outputBytes: relayed.outputBytes, bytesAfterUsage, units };
  const output = { ...seen, ...unseenOutput(relayed, startedAtMs, nowMs) };
  const payer = payerOf(call.byok, candidate);
  return call.bill.charge({ candidate, reported: relayed.usage, output, payer, size: call.size });
}

/** A provider whose call is abandoned does not report its output before the first event. */
function unseenOutput({ end, countsUnseen, outputAtMs }: RelayedStream, startedAtMs: number, nowMs: number) {
  const isLeft = typeof end === 'object' && end.cause === 'client_gone';
  return isLeft && !countsUnseen ? { unseenTokens: unseenOutputTokens((outputAtMs ?? nowMs) - startedAtMs) } : {};
}

const sourceOf = ({ admitted: { candidate } }: ProvidedAnswer): AnswerSource => ({
  model: candidate.model.id,
  provider: candidate.provider.id,
});

function servedHeaders(
  { clock }: GatewayDependencies,
  { arrivedAtMs, holdings: { cache } }: AdmittedPlain,
  { upstreamMs }: EndedCall['run'],
  provided: ProvidedAnswer,
): Record<string, string> {
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
