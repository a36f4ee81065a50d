// Reads a stream of message events, and keeps its state, which is the output and usage so far.
import {
  type AnswerDetails,
  type AnswerEvent,
  type EventDetails,
  type EventReader,
  type EventReading,
  isEndMarker,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type UsageReport,
} from '../../wire/index.ts';
import { endMarkerEvent, ParsedEvent, parseEvent, textBytesOf } from '../index.ts';
import { mergeUsage, readUsageReport } from './message-usage.ts';
import { answerDetails, brokenEnd, filesIn, structuralNames, toolResult } from './read-message.ts';

/** Opens a reader. A stream is complete if its message has ended, with or without the `message_stop` after it. */
export function openEventReader(): EventReader {
  let usage: JsonObject = {};
  let isComplete = false;

  function report(later: unknown): UsageReport | undefined {
    if (!isJsonObject(later)) return undefined;
    usage = mergeUsage(usage, later);
    return readUsageReport(usage);
  }

  function read({ name, text }: { readonly name?: string | undefined; readonly text: string }): EventReading {
    if (isComplete && isEndMarker(text)) return { kind: 'event', event: endMarkerEvent(name, text) };
    const event = parseEvent(text);
    if (event === undefined) return { kind: 'unreadable' };
    if (name === 'error' || event.type === 'error') return { kind: 'error', error: event };
    const brokenEnding = brokenEndIn(event);
    if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
    const output = outputIn(event);
    const isLast = event.type === 'message_stop';
    isComplete ||= isLast || hasEnded(event);
    const details = { ...output, ...tellsOfMessage(event), isLast, usage: report(usageIn(event)) };
    return { kind: 'event', event: new ParsedEvent(name, text, details) };
  }
  return { read, isComplete: () => isComplete, mayBeMarked: true };
}

/**
 * Wraps an event that the gateway wrote itself. The event's text is made once, and not parsed again. `usage` is the
 * provider's report, if any.
 */
export function writtenEvent(event: JsonObject & { readonly type: string }, usage?: UsageReport): AnswerEvent {
  const details = {
    ...outputIn(event),
    ...tellsOfMessage(event),
    isLast: event.type === 'message_stop',
    usage,
  };
  return new ParsedEvent(event.type, JSON.stringify(event), details);
}

/** Returns the usage, which is in the start of the message, and then next to each change of the message. */
const usageIn = ({ type, message, usage }: JsonObject): unknown =>
  type === 'message_start' && isJsonObject(message) ? message.usage : usage;

const brokenEndIn = ({ type, delta }: JsonObject): object | undefined =>
  type === 'message_delta' && isJsonObject(delta) ? brokenEnd(delta) : undefined;

/** Returns the details of the message; undefined for most events, which bring a piece of a block. */
function tellsOfMessage({ type, message, delta, content_block: block }: JsonObject): AnswerDetails | undefined {
  if (type === 'content_block_start') return { objectIds: filesIn(block) };
  const source = type === 'message_start' ? message : type === 'message_delta' ? delta : undefined;
  return isJsonObject(source) ? answerDetails(source) : undefined;
}

const hasEnded = ({ type, delta }: JsonObject): boolean =>
  type === 'message_delta' && isJsonObject(delta) && isEndWord(delta.stop_reason);

const nothing = { hasOutput: false, outputBytes: 0 };

type EventOutput = Pick<EventDetails, 'hasOutput' | 'isOnlyThinking' | 'outputBytes'>;

/**
 * Reads the output of an event: a block with content, the start of thinking, or the reason why the message ended. After
 * the mere start of another block, another provider may still answer.
 */
function outputIn({ type, content_block: block, delta }: JsonObject): EventOutput {
  if (type === 'content_block_start' && isJsonObject(block)) return outputInBlock(block);
  if (type === 'message_delta') return { hasOutput: hasEnded({ type, delta }), outputBytes: 0 };
  if (type !== 'content_block_delta' || !isJsonObject(delta)) return nothing;
  const { type: kind, ...content } = delta;
  const isOnlyThinking = thinkingDeltas.has(kind);
  return {
    hasOutput: Object.values(content).some(isFilled),
    isOnlyThinking,
    outputBytes: textBytesOf(content, structuralNames),
  };
}

/** Blocks after whose start a minute of pings may follow, if a client does not want the thinking itself. */
const thinkingBlocks: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);
const thinkingDeltas: ReadonlySet<unknown> = new Set(['thinking_delta', 'signature_delta']);

function outputInBlock(block: JsonObject): EventOutput {
  const { type, ...content } = block;
  if (typeof type === 'string' && toolResult.test(type)) return { hasOutput: true, outputBytes: 0 };
  const isOnlyThinking = thinkingBlocks.has(type);
  // A text begins empty and is filled by deltas.
  const hasOutput = type !== 'text' || Object.values(content).some(isFilled);
  return { hasOutput, isOnlyThinking, outputBytes: textBytesOf(content, structuralNames) };
}

const isFilled = (value: unknown): boolean =>
  value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
