// The answer: JSON or an event stream, with the gateway's fields and headers, and the outcome for settlement.

import { okStatus } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, headerNames, servingApis } from '../../../shared/foundation/constants/index.ts';
import { allBegun } from '../../../shared/foundation/parallel/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import type { StreamWriter } from '../../../shared/protocol/interfaces/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import { type Charge, unseenOutputTokens } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { OpenStream, ProvidedAnswer } from '../provider-call.ts';
import type { AdmittedPlain, AnswerSource, CallResult, EndedCall } from '../stages.ts';
import { chargedCost } from './answer-cost.ts';
import { type RelayedStream, relayStream } from './event-stream.ts';
import { cacheWriter, keepEvents } from './kept-events.ts';
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
  readonly provided: ProvidedAnswer;
  readonly headers: Readonly<Record<string, string>>;
}

export async function respond(
  deps: GatewayDependencies,
  call: AdmittedPlain,
  run: EndedCall['run'],
  provided: ProvidedAnswer,
): Promise<CallResult> {
  const answered = { call, run, provided, headers: servedHeaders(deps, call, run, provided) };
  const isJson = provided.kind === 'json';
  const { response, end } = isJson
    ? await jsonResponse(deps, answered, provided)
    : streamResponse(deps, answered, provided.stream);
  const refusal = isJson ? undefined : provided.stream.refusal;
  if (refusal === undefined) return { response, end: () => ({ run, error: undefined, ...end() }) };
  // Read to its end unseen, so that it is paid.
  await response.finish?.();
  return { response: undefined, error: refusal, ended: { run, error: refusal, ...end() } };
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
  const response = {
    status: okStatus,
    headers: { ...headers, ...jsonHeaders, ...written.headers },
    body: written.body,
  };
  const { text } = answer;
  const writeCache = jsonCacheWriter(deps, call, charge, text);
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
const pingOf = (call: AdmittedPlain, { reachedVia }: ProvidedAnswer, { ping }: StreamWriter): string | undefined =>
  reachedVia.format === servingApis[call.clientInterface.id].own ? undefined : ping;

/** A function of its own, so that the end of the call does not keep the text longer than the cache needs it. */
const jsonCacheWriter = (deps: GatewayDependencies, call: AdmittedPlain, charge: Charge, text: string) =>
  cacheWriter(deps, call, charge, () => (text.length > collectedStreamMaxBytes ? undefined : { kind: 'json', text }));

function streamResponse(deps: GatewayDependencies, answered: AnsweredCall, stream: OpenStream): Responded {
  const { call, run, provided, headers } = answered;
  const { request, holdings, claims, scope } = call;
  const contentType = bytesTypeOf(stream.opening);
  const answer = { status: okStatus, headers: { ...headers, ...streamHeadersOf(contentType) } };
  const writer = request.openStreamWriter(call.scope.baseUrlRules);
  const isCached = holdings.cache?.store !== undefined;
  const kept = keepEvents(isCached);
  const storingAccountMemory = openStoringAccountMemory(deps, call, provided);
  let made: Charge | undefined;
  const charge = (): Charge => {
    made ??= chargeStream(call, provided, relayed, deps.clock.nowMs());
    return made;
  };
  const schemaCheck = request.schemaCheck?.openStream(call.schemaWork);
  const { body, relayed, readOn } = relayStream(stream, {
    clock: deps.clock,
    keepAlive: contentType === undefined ? pingOf(call, provided, writer) : '',
    isBytes: contentType !== undefined,
    writer,
    cost: () => chargedCost(call, run, provided, charge(), relayed.usage),
    copies: {
      count: [isCached, call.idempotencyKey !== undefined, schemaCheck !== undefined].filter(Boolean).length,
      memory: scope.memory,
      drop() {
        kept.drop();
        schemaCheck?.drop();
      },
    },
    onEvent: (event) => {
      storingAccountMemory.hear(event.details);
      kept.add?.(event);
    },
    onComplete:
      call.idempotencyKey === undefined
        ? undefined
        : (transcript) => claims.store({ ...answer, body: transcript }, sourceOf(provided)),
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
  const response = { ...answer, body, closeBroken, finish: readOn };
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
      said: { model: relayed.model, finishReasons: relayed.finishReasons },
    };
    const content = outcome === 'complete' ? kept.content() : undefined;
    const writeCache = content && cacheWriter(deps, call, charge(), () => content);
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
    ...(leftOut.length === 0 ? {} : { [headerNames.leftOut]: leftOut.join(',') }),
  };
}
