// Builds the span of each provider call, with the attributes of OpenTelemetry's conventions for generative AI. A span
// contains counts, names and words of an interface, and the bodies of the call if they are stored. A span never
// contains a credential or a provider's text about its failure.
import { maskKeys } from '../../../shared/foundation/log/index.ts';
import type { Attributes, Span, Trace } from '../../../shared/foundation/telemetry/index.ts';
import {
  type ConversationPart,
  type ConversationTurn,
  readAnswerTurns,
  readRequestTurns,
  type TurnsOfBodies,
} from '../../../shared/protocol/conversation/index.ts';
import type { Charge } from '../../../shared/routing/billing/index.ts';
import type { Attempt } from '../../../shared/routing/provider-metrics/index.ts';
import type { ContentBodies, PlannedCall } from '../stages.ts';

export interface ConversationBodies extends ContentBodies {
  /** The bodies, read as turns of a conversation; undefined if they are not a conversation. */
  readonly turns: TurnsOfBodies | undefined;
}

/** Builds the spans. `bodies` belong to the span of the last attempt. */
export const attemptSpans = (
  trace: Trace,
  call: PlannedCall,
  attempts: readonly Attempt[],
  bodies?: ConversationBodies,
): Span[] =>
  attempts.flatMap((attempt, index) => {
    if (attempt.spanId === undefined) return [];
    const span = toSpan(trace, call, attempt, attempt.spanId);
    const messages = bodies && index === attempts.length - 1 ? messageAttributes(bodies.turns, bodies) : {};
    return [{ ...span, attributes: { ...span.attributes, ...messages } }];
  });

function toSpan({ traceId, spanId: parentSpanId }: Trace, call: PlannedCall, attempt: Attempt, spanId: string): Span {
  const { clientInterface, scope } = call.identified.parsed;
  const { candidate, outcome, startedAtMs, latencyMs, firstOutputMs, charge } = attempt;
  const { sessionId } = scope.correlation;
  const operation = clientInterface.telemetryOperation;
  return {
    traceId,
    spanId,
    parentSpanId,
    name: `${operation} ${candidate.model.id}`,
    kind: 'client',
    startedAtMs,
    endedAtMs: startedAtMs + latencyMs,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': wellKnownName(candidate.provider.base_url) ?? candidate.provider.id,
      'gw.provider': candidate.provider.id,
      'gen_ai.request.model': candidate.model.id,
      'gen_ai.request.stream': call.effective.request.stream ? true : undefined,
      ...(charge === undefined ? {} : answerAttributes(attempt, charge)),
      'gen_ai.response.time_to_first_chunk': firstOutputMs === undefined ? undefined : firstOutputMs / 1_000,
      'gen_ai.conversation.id': sessionId && maskKeys(sessionId),
      'error.type': outcome === 'ok' ? undefined : outcome.cause,
    },
    isError: hasFailed(attempt),
  };
}

/**
 * `client_gone` is the kind of an attempt whose client has left, or that is no longer needed. Neither case is a failure
 * of the provider.
 */
const hasFailed = ({ outcome }: Attempt): boolean => outcome !== 'ok' && outcome.kind !== 'client_gone';

/** Matches values that look like the id of a model. Other values that a provider sends are not recorded. */
const modelShape = /^[\w.:@/-]{1,128}$/;
const finishReasonShape = /^[A-Za-z_-]{1,40}$/;
const picoPerUsd = 1e12;

function answerAttributes(attempt: Attempt, { usage, reported, cost }: Charge): Attributes {
  const { candidate, details = {} } = attempt;
  const { entry, prices } = candidate;
  const reasons = hasFailed(attempt)
    ? ['error']
    : details.finishReasons?.filter((reason) => finishReasonShape.test(reason));
  const hasPrice = prices.input !== null && prices.output !== null;
  return {
    'gen_ai.response.model':
      details.model !== undefined && modelShape.test(details.model) ? details.model : entry.upstream_model,
    'gen_ai.usage.input_tokens': BigInt(usage.promptTokens),
    'gen_ai.usage.output_tokens': BigInt(usage.completionTokens),
    'gen_ai.usage.cache_read.input_tokens': BigInt(usage.cachedTokens),
    'gen_ai.usage.cache_write.input_tokens': BigInt(usage.cacheWriteTokens),
    'gen_ai.usage.reasoning.output_tokens': BigInt(reported?.tokens.reasoning ?? 0),
    ...(hasPrice
      ? {
          'gen_ai.usage.cost.amount': Number(cost.total) / picoPerUsd,
          'gen_ai.usage.cost.currency': 'USD',
          'gen_ai.usage.cost.source': 'local',
        }
      : {}),
    'gen_ai.response.finish_reasons': reasons === undefined || reasons.length === 0 ? undefined : reasons,
  };
}

// Maps the host of a provider's base URL to the provider name that OpenTelemetry's conventions define.

/** Provider names, by a pattern of the host name. The first match counts. */
const providerNamesByHost: readonly (readonly [host: RegExp, name: string])[] = [
  [/(^|\.)api\.openai\.com$/, 'openai'],
  [/\.openai\.azure\.com$|\.cognitiveservices\.azure\.com$/, 'azure.ai.openai'],
  [/\.services\.ai\.azure\.com$|\.models\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/(^|\.)api\.anthropic\.com$/, 'anthropic'],
  [/^bedrock(-runtime|-mantle)?[.-].*(\.amazonaws\.com|\.api\.aws)(\.cn)?$/, 'aws.bedrock'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/(^|[.-])aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(^|\.)api\.groq\.com$/, 'groq'],
  [/(^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(^|\.)api\.deepseek\.com$/, 'deepseek'],
  [/(^|\.)api\.x\.ai$/, 'x_ai'],
  [/(^|\.)api\.cohere\.(com|ai)$/, 'cohere'],
  [/(^|\.)api\.perplexity\.ai$/, 'perplexity'],
  [/\.ml\.cloud\.ibm\.com$/, 'ibm.watsonx.ai'],
];

/** Returns undefined if the conventions have no name for the provider. */
export function wellKnownName(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return providerNamesByHost.find(([host]) => host.test(hostname))?.[1];
}

// Converts the stored bodies to the message format of OpenTelemetry's conventions for generative AI
// (gen_ai.input.messages and gen_ai.output.messages, JSON texts), and truncates them so that they fit into a span.

/**
 * Maximum number of characters of one attribute. The number is small because up to 4,096 spans can wait in memory to be
 * sent.
 */
const attributeMaxCharacters = 32 * 1024;
/** Maximum lengths of a text, tried in this order until all messages fit. */
const textLimits = [attributeMaxCharacters, 4_096, 512];

/** Returns no attributes for a body that is not a conversation. */
const messageAttributes = (turns: TurnsOfBodies | undefined, { request, answer }: ContentBodies): Attributes => ({
  'gen_ai.input.messages': serializeTurns(readRequestTurns(turns, request), toMessage),
  'gen_ai.output.messages': serializeTurns(
    answer === null ? undefined : readAnswerTurns(turns, answer.body),
    toOutputMessage,
  ),
});

type WriteTurn = (turn: ConversationTurn, textMax: number) => object;

/** Returns the turns as JSON; undefined if there are none, or if they do not fit even with the shortest texts. */
function serializeTurns(turns: readonly ConversationTurn[] | undefined, write: WriteTurn): string | undefined {
  if (turns === undefined) return undefined;
  for (const textMax of textLimits) {
    const json = JSON.stringify(turns.map((turn) => write(turn, textMax)));
    if (json.length <= attributeMaxCharacters) return json;
  }
  return undefined;
}

const toMessage: WriteTurn = ({ role, parts }, textMax) => ({
  role,
  parts: parts.map((part) => toPart(part, textMax)),
});

const toOutputMessage: WriteTurn = (turn, textMax) => ({
  ...toMessage(turn, textMax),
  // A stream that broke has no finish reason.
  finish_reason: finishReasons[turn.finishReason ?? ''] ?? turn.finishReason ?? 'error',
});

/**
 * Maps an interface's finish reason to the conventions' name for it. A reason that is not listed has the same name in
 * both.
 */
const finishReasons: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  completed: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  incomplete: 'length',
  tool_calls: 'tool_call',
  tool_use: 'tool_call',
  refusal: 'content_filter',
};

function toPart(part: ConversationPart, textMax: number): object {
  if (part.kind === 'image') return toImagePart(part.url, textMax);
  const text = part.text.slice(0, textMax);
  switch (part.kind) {
    case 'text':
      return { type: 'text', content: text };
    case 'thinking':
      return { type: 'reasoning', content: text };
    case 'tool_call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: text };
    case 'tool_result':
      return { type: 'tool_call_response', id: part.id, response: text };
    default:
      return { type: 'other', content: text };
  }
}

/** Describes an image without its bytes, because they would not fit into a span. */
function toImagePart(url: string, textMax: number): object {
  const [, mime_type] = /^data:([\w/+.-]{1,64})[;,]/.exec(url) ?? [];
  return mime_type === undefined
    ? { type: 'uri', modality: 'image', uri: url.slice(0, textMax) }
    : { type: 'blob', modality: 'image', mime_type, content: '' };
}
