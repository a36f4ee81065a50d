// Reads a stream of Responses events, and keeps its state.
import {
  type AnswerDetails,
  type AnswerEvent,
  type EventDetails,
  type EventReader,
  type EventReading,
  isBrokenEnd,
  isEndMarker,
  isJsonObject,
  type JsonObject,
  mediaIn,
  toCount,
  type UsageReport,
} from '../../wire/index.ts';
import { endMarkerEvent, membersOf, ParsedEvent, parseEvent } from '../index.ts';

/** State of the response so far, for the end of a stream that breaks. */
export interface ResponseEventDetails extends EventDetails {
  readonly sequenceNumber: number | undefined;
  readonly responseId: string | undefined;
  readonly createdSeconds?: number | undefined;
}

/** Events at the end of a response that did not fail, including a response whose output was cut off. */
const goodEnds: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);
const failedEnds: ReadonlySet<unknown> = new Set(['response.failed', 'response.cancelled']);

/** Returns a provider error if the status, or the reason for an incomplete response, means that the response broke. */
export function brokenEnd({ status, incomplete_details: incomplete }: JsonObject): object | undefined {
  const reason = isJsonObject(incomplete) ? incomplete.reason : undefined;
  const word = [status, reason].find(isBrokenEnd);
  return word === undefined ? undefined : { error: { code: word } };
}

/** Events that announce a response without output. */
const announcements: ReadonlySet<unknown> = new Set(['response.created', 'response.in_progress', 'response.queued']);

const errorMembers = { code: {}, type: {}, message: {}, param: {} };
const error = membersOf(errorMembers);
const details = membersOf({
  cached_tokens: {},
  cache_write_tokens: {},
  cache_write_tokens_details: membersOf({ ttl_12h_tokens: {} }),
  reasoning_tokens: {},
  audio_tokens: {},
  image_tokens: {},
});
const usage = membersOf({
  input_tokens: {},
  output_tokens: {},
  total_tokens: {},
  input_tokens_details: details,
  output_tokens_details: details,
});
/** Shape of an item of the output. */
export const itemShape = membersOf({
  id: {},
  type: {},
  container_id: {},
  environment: membersOf({ container_id: {} }),
});
/** Shape of a long event. An image of some megabytes is skipped, and never becomes a value. */
const longEvent = membersOf({
  ...errorMembers,
  delta: {},
  item: itemShape,
  sequence_number: {},
  error,
  response: membersOf({
    id: {},
    created_at: {},
    store: {},
    model: {},
    status: {},
    incomplete_details: membersOf({ reason: {} }),
    error,
    usage,
  }),
});

export function openResponseReader(): EventReader {
  let hasEnded = false;
  return {
    read(event) {
      if (hasEnded && isEndMarker(event.text)) return { kind: 'event', event: endMarkerEvent(event.name, event.text) };
      const reading = readEvent(event);
      hasEnded ||= reading.kind === 'event' && reading.event.details.isLast;
      return reading;
    },
    isComplete: () => hasEnded,
    mayBeMarked: true,
  };
}

function readEvent({ name, text }: { readonly name?: string | undefined; readonly text: string }): EventReading {
  const event = parseEvent(text, longEvent);
  if (event === undefined) return { kind: 'unreadable' };
  const { type, response: snapshot } = event;
  const response = isJsonObject(snapshot) ? snapshot : {};
  if (failedEnds.has(type)) return { kind: 'error', error: { error: response.error ?? {} } };
  if (type === 'error' || name === 'error')
    return { kind: 'error', error: isJsonObject(event.error) ? event : { error: event } };
  const isLast = goodEnds.has(type);
  const brokenEnding = isLast ? brokenEnd(response) : undefined;
  if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
  const details: ResponseEventDetails = {
    hasOutput: isLast || bringsOutput(type),
    isOnlyThinking: isThinking(event),
    isLast,
    usage: isLast ? readResponseUsage(response.usage) : undefined,
    outputBytes: deltaBytes(event),
    sequenceNumber: typeof event.sequence_number === 'number' ? event.sequence_number : undefined,
    model: typeof response.model === 'string' ? response.model : undefined,
    finishReasons: isLast && typeof response.status === 'string' ? [response.status] : undefined,
    responseId: typeof response.id === 'string' ? response.id : undefined,
    createdSeconds: toCount(response.created_at),
    ...(type === 'response.output_item.done' ? idsOf({}, [event.item]) : idsOf(response)),
  };
  return { kind: 'event', event: new ParsedEvent(name, text, details) };
}

/**
 * Returns the ids of a response, or of an item of it. A provider of this interface stores both, unless `store` is
 * false.
 */
export function idsOf(
  { id, store }: JsonObject,
  output: readonly unknown[] = [],
): Pick<AnswerDetails, 'storedIds' | 'objectIds'> {
  const items = output.filter(isJsonObject);
  const storedIds = store === false ? [] : [id, ...items.map((item) => item.id)];
  const containers = items.flatMap(({ container_id: containerId, environment }) => [
    containerId,
    isJsonObject(environment) ? environment.container_id : undefined,
  ]);
  return { storedIds: storedIds.filter(isText), objectIds: containers.filter(isText) };
}

const isText = (id: unknown): id is string => typeof id === 'string';

/** The details of an event that the gateway wrote itself. */
export interface EventToWrite {
  readonly type: string;
  readonly sequenceNumber: number;
  readonly responseId: string;
  /** Bytes of the model's text. */
  readonly outputBytes: number;
  readonly isOnlyThinking: boolean;
  /** Set for the last event. */
  readonly end?: { readonly usage: UsageReport | undefined; readonly model: string; readonly status: string };
}

/** Wraps the event. Its text is made once, and not parsed again. */
export function writtenEvent(text: string, { type, end, ...written }: EventToWrite): AnswerEvent {
  const details: ResponseEventDetails = {
    ...written,
    hasOutput: end !== undefined || bringsOutput(type),
    isLast: end !== undefined,
    usage: end?.usage,
    model: end?.model,
    finishReasons: end && [end.status],
  };
  return new ParsedEvent(type, text, details);
}

/** True for an output item, a part of an output item or a delta, of whatever kind. */
const bringsOutput = (type: unknown): boolean =>
  typeof type === 'string' && type.startsWith('response.') && !announcements.has(type);

/** True for the start of a reasoning item, after which usually nothing else is sent until its end. */
const isThinking = ({ type, item }: JsonObject): boolean =>
  (typeof type === 'string' && type.startsWith('response.reasoning')) ||
  (isJsonObject(item) && item.type === 'reasoning');

/** Returns the bytes of a delta. Whole texts do not count, because they repeat the deltas. */
function deltaBytes({ type, delta }: JsonObject): number {
  if (typeof type !== 'string' || !type.endsWith('.delta')) return 0;
  return typeof delta === 'string' ? Buffer.byteLength(delta) : 0;
}

/**
 * Reads `usage` of a response. Returns undefined for a value that is not an object, so that nothing counts as reported.
 */
export function readResponseUsage(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const input = isJsonObject(usage.input_tokens_details) ? usage.input_tokens_details : {};
  const output = isJsonObject(usage.output_tokens_details) ? usage.output_tokens_details : {};
  const written = isJsonObject(input.cache_write_tokens_details) ? input.cache_write_tokens_details : {};
  const tokens = {
    input: toCount(usage.input_tokens),
    cached: toCount(input.cached_tokens) ?? 0,
    cacheWrite: toCount(input.cache_write_tokens) ?? 0,
    // Tokens that are cached for 12 hours are billed like an hour, because no other price is documented.
    cacheWrite1h: toCount(written.ttl_12h_tokens) ?? 0,
    output: toCount(usage.output_tokens),
    reasoning: toCount(output.reasoning_tokens) ?? 0,
    media: mediaIn(input, output),
  };
  return { tokens, members: usage };
}
