// Answers that exist already: a stored result byte for byte, and a cached answer with usage members of its own.

import type { CachedAnswer } from '../../../shared/accounting/response-cache/index.ts';
import { okStatus } from '../../../shared/errors/index.ts';
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import type { GatewayResponse } from '../../../shared/protocol/http/index.ts';
import {
  answerJson,
  doneLine,
  readReportedUsage,
  readStreamChunk,
} from '../../../shared/protocol/interfaces/chat-completions/index.ts';
import { jsonHeaders, streamHeaders } from '../../../shared/protocol/router/index.ts';
import { rewriteMembers, type UsageReport } from '../../../shared/protocol/wire/index.ts';
import { mergeUsage, noCost } from '../../../shared/routing/billing/index.ts';
import type { IdentifiedCall, ReadyAnswer, RoutedCall, StoredAnswer } from '../stages.ts';
import { addsUsage, asksMergedUsage, chunkLine, usageLine } from './event-stream.ts';

export async function respondReady({ scope, workspace }: IdentifiedCall, ready: ReadyAnswer): Promise<GatewayResponse> {
  const source = ready.kind === 'cached' ? { cache: 'HIT' } : { idempotent_replayed: true };
  scope.logContext.fields = { ...scope.logContext.fields, workspace_id: workspace.id, ...source };
  if (ready.kind === 'cached') {
    const response = respondCached(ready.call, ready.answer);
    // An answer like any other: a retry gets the same, and another body under its key is a conflict.
    await ready.names.store(response);
    return response;
  }
  const { status, headers, body } = ready.result;
  return { status, headers: { ...headers, [headerNames.idempotentReplayed]: 'true' }, body };
}

function respondCached(call: RoutedCall, answer: CachedAnswer): GatewayResponse & StoredAnswer {
  const { content, provider, model } = answer;
  const headers = { [headerNames.model]: model, [headerNames.provider]: provider, [headerNames.cache]: 'HIT' };
  if (content.kind === 'stream') {
    return {
      status: okStatus,
      headers: { ...headers, ...streamHeaders },
      body: cachedStream(call, answer, content.chunks),
    };
  }
  const json = answerJson(content.text);
  const usage = cachedUsage(answer, readReportedUsage(json));
  const body = rewriteMembers(json, new Map([['usage', usage]]));
  return { status: okStatus, headers: { ...headers, ...jsonHeaders }, body };
}

/** The chunks as they came, with the usage chunks that this client asked for. */
function cachedStream(call: RoutedCall, answer: CachedAnswer, texts: readonly string[]): string {
  const { includeUsage, reasoning } = call.request;
  const asked = { includeUsage, asksMergedUsage: asksMergedUsage(call) };
  const chunks = texts.flatMap((text) => readStreamChunk(text) ?? []);
  const relayed = chunks.filter(({ facts }) => !facts.isUsageOnly || (includeUsage && !asked.asksMergedUsage));
  const reported = chunks.findLast(({ facts }) => facts.usage !== undefined)?.facts.usage;
  const head = chunks.at(-1)?.head ?? {};
  const added = addsUsage(asked, reported) ? usageLine(head, cachedUsage(answer, reported)) : '';
  return relayed.map((chunk) => chunkLine(chunk, reasoning?.exclude === true)).join('') + added + doneLine;
}

function cachedUsage(
  { provider, model, usage }: CachedAnswer,
  reported: UsageReport | undefined,
): Record<string, unknown> {
  const served = { provider, model, attempts: 0, isByok: false, cacheHit: true };
  return mergeUsage(reported?.members, usage, { total: 0n, upstream: noCost }, served);
}
