// The answer: JSON or an event stream, with the members and headers of contract 4.

import { okStatus } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { type JsonAnswer, withoutReasoning } from '../../../shared/protocol/wire/index.ts';
import { type Charged, mergeUsage } from '../../../shared/routing/billing/index.ts';
import { newTally } from '../admission/new-ending.ts';
import { payerOf } from '../charge-answer.ts';
import type { ChatDependencies } from '../dependencies.ts';
import type { ClaimedCall, OpenStream, ProvidedCall } from '../stages.ts';
import { relayStream } from './event-stream.ts';
import { keepForReplay, keepInCache } from './keep-answer.ts';
import { jsonHeaders, streamHeaders } from './response-headers.ts';

/** What of settlement a stream cannot leave to the time after it. */
export interface StreamSettlement {
  /** Charges what was relayed, once, whoever asks first. */
  readonly chargeStream: () => void;
  /** Of a stream that broke: its Idempotency-Key and span may be used again. */
  readonly releaseNames: () => Promise<void>;
}

export async function respond(
  deps: ChatDependencies,
  call: ClaimedCall,
  provided: ProvidedCall,
  settlement: StreamSettlement,
): Promise<GatewayResponse> {
  const { success } = provided;
  const headers = servedHeaders(deps, call, provided);
  return success.kind === 'json'
    ? jsonResponse(deps, call, provided, success.answer, headers)
    : streamResponse(deps, call, provided, success.stream, headers, settlement);
}

async function jsonResponse(
  deps: ChatDependencies,
  call: ClaimedCall,
  provided: ProvidedCall,
  answer: JsonAnswer,
  headers: Record<string, string>,
): Promise<GatewayResponse> {
  const kept = call.request.reasoning?.exclude === true ? withoutReasoning(answer.body) : answer.body;
  const body = JSON.stringify({ ...kept, usage: usageOf(call, provided, answer.usage) });
  const response = { status: okStatus, headers: { ...headers, ...jsonHeaders }, body };
  await keepForReplay(deps, call, response);
  keepInCache(deps, call, {
    ...servedBy(call, provided),
    ...cachedHead,
    content: { kind: 'json', text: JSON.stringify(kept) },
  });
  return response;
}

const cachedHead = { status: okStatus, contentType: jsonHeaders['content-type'] } as const;

function streamResponse(
  deps: ChatDependencies,
  call: ClaimedCall,
  provided: ProvidedCall,
  stream: OpenStream,
  headers: Record<string, string>,
  { chargeStream, releaseNames }: StreamSettlement,
): GatewayResponse {
  const { request, ending, cache, ownsIdempotencyKey } = call;
  const tally = ending.tally ?? newTally();
  const answer = { status: okStatus, headers: { ...headers, ...streamHeaders } };
  const chunks: string[] = [];
  const mergedUsage = () => {
    chargeStream();
    return usageOf(call, provided, tally.usage);
  };
  const onComplete = async (transcript: () => string) => {
    chargeStream();
    if (ownsIdempotencyKey) await keepForReplay(deps, call, { ...answer, body: transcript() });
    const content = { kind: 'stream', chunks } as const;
    keepInCache(deps, call, {
      ...servedBy(call, provided),
      ...cachedHead,
      contentType: streamHeaders['content-type'],
      content,
    });
  };
  const wishes = {
    includeUsage: request.includeUsage,
    excludeReasoning: request.reasoning?.exclude === true,
    mergedUsage: request.includeMergedUsage ? mergedUsage : undefined,
    onChunk: cache?.store === undefined ? undefined : (text: string) => void chunks.push(text),
    onComplete: ownsIdempotencyKey || cache?.store !== undefined ? onComplete : undefined,
    onBroken: () => releaseNames().catch(() => {}),
  };
  // A body nobody ever read never reached its own finally.
  return { ...answer, body: relayStream(stream, tally, wishes), finish: async () => stream.abort() };
}

function usageOf(
  call: ClaimedCall,
  { turn, attempts }: ProvidedCall,
  reported: Record<string, unknown> | undefined,
): Record<string, unknown> {
  const { provider, model } = turn.candidate;
  const charged: Charged = { total: call.bill.totalOf('workspace'), upstream: call.bill.upstreamCost() };
  const isByok = payerOf(call, turn) === 'client';
  const served = { provider: provider.id, model: model.id, attempts, isByok, cacheHit: false };
  return mergeUsage(reported, lastCharge(call).usage, charged, served);
}

function lastCharge({ bill }: ClaimedCall) {
  const charge = bill.charges.at(-1);
  if (charge === undefined) throw new Error('an answer was given that nothing was charged for');
  return charge;
}

const servedBy = (call: ClaimedCall, { turn: { candidate } }: ProvidedCall) => ({
  provider: candidate.provider.id,
  model: candidate.model.id,
  usage: lastCharge(call).usage,
});

function servedHeaders(
  { clock }: ChatDependencies,
  { arrivedAtMs, ending, cache }: ClaimedCall,
  { turn: { candidate } }: ProvidedCall,
): Record<string, string> {
  const gatewayMs = Math.max(0, clock.nowMs() - arrivedAtMs - ending.upstreamMs);
  return {
    [headerNames.model]: candidate.model.id,
    [headerNames.provider]: candidate.provider.id,
    [headerNames.serverTiming]: `gw;dur=${gatewayMs}`,
    ...(cache === undefined ? {} : { [headerNames.cache]: cache.outcome }),
  };
}
