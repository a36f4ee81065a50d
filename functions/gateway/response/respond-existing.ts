// Returns answers that exist already. A stored result is repeated byte for byte, and a cached answer gets usage fields
// for this call.

import type { CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { answerBytes } from '../../../shared/protocol/memory-budget/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';
import { laterReport } from '../../../shared/protocol/wire/index.ts';
import { passStored, respondWith } from '../exit/exit.ts';
import type { ExistingAnswer, RoutedCall, StoredAnswer } from '../stages.ts';
import { cachedCost } from './answer-cost.ts';
import { leftOutHeader } from './left-out-header.ts';
import { bytesTypeOf, streamHeadersOf } from './stream-type.ts';

export async function respondExisting(existing: ExistingAnswer): Promise<GatewayResponse> {
  const response = await responseOf(existing);
  // A cached answer was written again, so it takes as much memory as a new answer.
  const part = existing.kind === 'cached' ? 'written' : 'text';
  existing.allocation.keepOnly(answerBytes({ [part]: response.body.length }));
  return response;
}

type WholeResponse = GatewayResponse & { readonly body: string };

async function responseOf(existing: ExistingAnswer): Promise<WholeResponse> {
  if (existing.kind === 'cached') {
    const response = await respondCached(existing);
    // A cached answer is stored for replays like any other. A retry then gets the same answer, and another body under
    // the same Idempotency-Key is a conflict.
    await existing.claims.store(response, existing.answer, { writesAgain: false });
    return response;
  }
  // The reservation of the key made sure that each guardrail of this call has checked it.
  const storedResult = passStored({ kind: 'checked_before' }, existing.result);
  const headers = { ...storedResult.headers, [headerNames.idempotentReplayed]: 'true' };
  return { ...respondWith(storedResult, { headers, body: storedResult.body }), body: storedResult.body };
}

type Cached = Extract<ExistingAnswer, { readonly kind: 'cached' }>;

async function respondCached({ call, answer, content }: Cached): Promise<WholeResponse & StoredAnswer> {
  // The cache key includes the guardrails of this call.
  const storedResult = passStored({ kind: 'checked_before' }, content);
  const { request } = call.effective;
  const { provider, model, leftOut = [] } = answer;
  const headers = {
    [headerNames.model]: model,
    [headerNames.provider]: provider,
    [headerNames.cache]: 'HIT',
    ...leftOutHeader(leftOut),
  };
  if (content.kind === 'stream') {
    const body = await cachedStream(call, answer, content.events);
    const type = bytesTypeOf(content.events) ?? request.streamForm?.contentType;
    const streamed = { headers: { ...headers, ...streamHeadersOf(type) }, body };
    return { ...respondWith(storedResult, streamed), ...streamed };
  }
  const { body, headers: written } = request.writeAnswer(content.answer, cachedCost(answer, content.answer.usage));
  const whole = { headers: { ...headers, ...jsonHeaders, ...written }, body };
  return { ...respondWith(storedResult, whole), ...whole };
}

/** Number of events that are written within a few milliseconds. */
const turnMaxEvents = 256;

/** Writes the stored events, with the usage that this client asked for. */
async function cachedStream(
  { identified, effective }: RoutedCall,
  answer: CachedAnswer,
  events: readonly AnswerEvent[],
): Promise<string> {
  const writer = effective.request.openStreamWriter(identified.parsed.scope.baseUrlRules);
  let lines = '';
  let lastEvent = '';
  let reported: AnswerEvent['details']['usage'];
  for (const [at, event] of events.entries()) {
    if (at % turnMaxEvents === turnMaxEvents - 1) await nextTurn();
    reported = event.details.usage === undefined ? reported : laterReport(reported, event.details.usage);
    if (event.details.isLast) lastEvent += writer.event(event);
    else lines += writer.event(event);
  }
  return lines + writer.beforeEnd(reported, () => cachedCost(answer, reported)) + lastEvent + writer.end;
}
