// The answer: JSON or an event stream, with the gateway's members and headers, and what settlement must know of its
// end.

import { okStatus } from '../../../shared/errors/index.ts';
import { collectedStreamMaxBytes, headerNames } from '../../../shared/foundation/constants/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import {
  closeBrokenStream,
  type JsonAnswer,
  withoutReasoning,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { jsonHeaders, streamHeaders } from '../../../shared/protocol/router/index.ts';
import { rewriteMembers, type UsageReport } from '../../../shared/protocol/wire/index.ts';
import { type Charge, mergeUsage } from '../../../shared/routing/billing/index.ts';
import { payerOf } from '../../../shared/routing/planner/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { AdmittedChat, EndedCall, OpenStream, ProvidedAnswer, ProviderRun } from '../stages.ts';
import { asksMergedUsage, type RelayedStream, relayStream } from './event-stream.ts';
import { createStreamSchemaCheck } from './stream-schema-check.ts';
import { cacheWriter } from './write-cache.ts';

export interface Responded {
  readonly response: GatewayResponse;
  /** Called once, after the last byte. */
  readonly end: () => Omit<EndedCall, 'run' | 'error'>;
}

/** An answer that a provider has given for this call. */
interface Answered {
  readonly call: AdmittedChat;
  readonly run: ProviderRun;
  readonly provided: ProvidedAnswer;
  readonly headers: Readonly<Record<string, string>>;
}

export async function respond(
  deps: GatewayDependencies,
  call: AdmittedChat,
  run: ProviderRun,
  provided: ProvidedAnswer,
): Promise<Responded> {
  const answered = { call, run, provided, headers: servedHeaders(deps, call, run, provided) };
  return provided.kind === 'json'
    ? jsonResponse(deps, answered, provided.answer)
    : streamResponse(deps, answered, provided.stream);
}

async function jsonResponse(deps: GatewayDependencies, answered: Answered, answer: JsonAnswer): Promise<Responded> {
  const { call, headers } = answered;
  const json = call.request.reasoning?.exclude === true ? withoutReasoning(answer.json) : answer.json;
  const charge = call.bill.charges.at(-1);
  if (charge === undefined) throw new Error('an answer was given that nothing was charged for');
  const body = rewriteMembers(json, new Map([['usage', usageOf(answered, charge, answer.usage)]]));
  const response = { status: okStatus, headers: { ...headers, ...jsonHeaders }, body };
  await call.names.store(response);
  const readContent = () => ({ kind: 'json', text: json.text }) as const;
  return { response, end: () => ({ stream: undefined, writeCache: cacheWriter(deps, call, charge, readContent) }) };
}

function streamResponse(deps: GatewayDependencies, answered: Answered, stream: OpenStream): Responded {
  const { call, run, provided, headers } = answered;
  const { request, holdings, names } = call;
  const answer = { status: okStatus, headers: { ...headers, ...streamHeaders } };
  const { endsBrokenStreamWithDone } = call.scope.conventions;
  const chunks: string[] = [];
  let chunkBytes = 0;
  const keepChunk = (text: string) => {
    chunkBytes += text.length;
    if (chunkBytes <= collectedStreamMaxBytes) chunks.push(text);
  };
  let charged: Charge | undefined;
  const charge = (): Charge => {
    charged ??= chargeStream(call, provided, relayed);
    return charged;
  };
  const { body, relayed, readOn } = relayStream(stream, {
    clock: deps.clock,
    includeUsage: request.includeUsage,
    excludeReasoning: request.reasoning?.exclude === true,
    asksMergedUsage: asksMergedUsage(call),
    mergedUsage: () => usageOf(answered, charge(), relayed.usage),
    onChunk: holdings.cache?.store === undefined ? undefined : keepChunk,
    onComplete:
      call.idempotencyKey === undefined ? undefined : (transcript) => names.store({ ...answer, body: transcript }),
    schemaCheck:
      request.responseSchema === undefined
        ? undefined
        : createStreamSchemaCheck(request.responseSchema, call.schemaWork),
    endsBrokenStreamWithDone,
    onBroken: () => names.release({ isRetryable: true, reachedProvider: true }).catch(() => {}),
  });
  const closeBroken = (tail: string, why: 'failed' | 'over_time') =>
    closeBrokenStream(
      tail,
      why === 'failed' ? 'no_available_provider' : 'request_deadline_exceeded',
      endsBrokenStreamWithDone,
    );
  const response = { ...answer, body, closeBroken, finish: readOn };
  const end = () => {
    const { usage } = charge();
    const { startedAtMs } = provided.admitted;
    const firstOutputMs = run.firstOutputAtMs === undefined ? undefined : run.firstOutputAtMs - startedAtMs;
    // Undefined only where a fault of ours ended the relay: it says nothing about the provider.
    const outcome = relayed.end ?? ({ kind: 'client_gone', cause: 'client_gone' } as const);
    const attempt = {
      ...provided.admitted,
      outcome: outcome === 'complete' || outcome === 'schema_mismatch' ? ('ok' as const) : outcome,
      latencyMs: deps.clock.nowMs() - startedAtMs,
      firstOutputMs,
      tokens: usage.promptTokens + usage.completionTokens,
    };
    const readContent = () => ({ kind: 'stream', chunks }) as const;
    const isKept = outcome === 'complete' && chunkBytes <= collectedStreamMaxBytes;
    const writeCache = isKept ? cacheWriter(deps, call, charge(), readContent) : undefined;
    return { stream: { end: relayed.end, attempt }, writeCache };
  };
  return { response, end };
}

function chargeStream(call: AdmittedChat, { admitted: { candidate } }: ProvidedAnswer, relayed: RelayedStream): Charge {
  // The last report of a stream that ended well is believed, also a zero.
  const isWhole = relayed.end === 'complete' || relayed.end === 'schema_mismatch';
  const bytesAfterUsage = isWhole ? relayed.outputBytesAfterUsage : relayed.outputBytesAfterCount;
  const output = { outputBytes: relayed.outputBytes, bytesAfterUsage };
  const payer = payerOf(call.byok, candidate);
  return call.bill.charge({ candidate, reported: relayed.usage, output, payer, size: call.size });
}

function usageOf(
  { call, run, provided }: Answered,
  { usage, payer }: Charge,
  reported: UsageReport | undefined,
): Record<string, unknown> {
  const { provider, model } = provided.admitted.candidate;
  const charged = { total: call.bill.totalOf('workspace'), upstream: call.bill.upstreamCost() };
  const isByok = payer === 'client';
  const served = { provider: provider.id, model: model.id, attempts: run.attemptCount, isByok, cacheHit: false };
  return mergeUsage(reported?.members, usage, charged, served);
}

function servedHeaders(
  { clock }: GatewayDependencies,
  { arrivedAtMs, holdings: { cache } }: AdmittedChat,
  { upstreamMs }: ProviderRun,
  { admitted: { candidate } }: ProvidedAnswer,
): Record<string, string> {
  const gatewayMs = Math.max(0, clock.nowMs() - arrivedAtMs - upstreamMs);
  return {
    [headerNames.model]: candidate.model.id,
    [headerNames.provider]: candidate.provider.id,
    [headerNames.serverTiming]: `gw;dur=${gatewayMs}`,
    ...(cache === undefined ? {} : { [headerNames.cache]: cache.outcome }),
  };
}
