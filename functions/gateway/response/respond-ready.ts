// Answers that exist already: a stored result byte for byte, and a cached answer with usage fields of its own.

import type { CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { nextTurn } from '../../../shared/foundation/time/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import { jsonHeaders } from '../../../shared/protocol/router/index.ts';
import type { AnswerEvent } from '../../../shared/protocol/wire/index.ts';
import { laterReport } from '../../../shared/protocol/wire/index.ts';
import type { IdentifiedCall, ReadyAnswer, RoutedCall, StoredAnswer } from '../stages.ts';
import { cachedCost } from './answer-cost.ts';
import { bytesTypeOf, streamHeadersOf } from './stream-type.ts';

export async function respondReady(call: IdentifiedCall, ready: ReadyAnswer): Promise<GatewayResponse> {
  const response = await responseOf(ready);
  call.scope.memory.keepOnly(copiesOf(ready) * response.body.length);
  return response;
}

/** A cached answer was written anew. */
const copiesOf = ({ kind }: ReadyAnswer): number => (kind === 'cached' ? 2 : 1);

type WholeResponse = GatewayResponse & { readonly body: string };

async function responseOf(ready: ReadyAnswer): Promise<WholeResponse> {
  if (ready.kind === 'cached') {
    const response = await respondCached(ready);
    // An answer like any other: a retry gets the same, and another body under its key is a conflict.
    await ready.claims.store(response, ready.answer);
    return response;
  }
  const { status, headers, body } = ready.result;
  return { status, headers: { ...headers, [headerNames.idempotentReplayed]: 'true' }, body };
}

type Cached = Extract<ReadyAnswer, { readonly kind: 'cached' }>;

async function respondCached({ call, answer, content }: Cached): Promise<WholeResponse & StoredAnswer> {
  const { provider, model } = answer;
  const headers = { [headerNames.model]: model, [headerNames.provider]: provider, [headerNames.cache]: 'HIT' };
  if (content.kind === 'stream') {
    const body = await cachedStream(call, answer, content.events);
    return { status: okStatus, headers: { ...headers, ...streamHeadersOf(bytesTypeOf(content.events)) }, body };
  }
  const written = call.request.writeAnswer(content.answer, cachedCost(answer, content.answer.usage));
  return { status: okStatus, headers: { ...headers, ...jsonHeaders, ...written.headers }, body: written.body };
}

/** Written within a few milliseconds. */
const turnMaxEvents = 256;

/** The events as they came, with the usage that this client asked for. */
async function cachedStream(call: RoutedCall, answer: CachedAnswer, events: readonly AnswerEvent[]): Promise<string> {
  const writer = call.request.openStreamWriter(call.scope.baseUrlRules);
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
