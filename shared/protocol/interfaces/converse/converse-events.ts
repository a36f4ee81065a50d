// Reads a Converse stream, and keeps its state, which is the output and usage so far. The last event has the usage, and
// follows the event with the stop reason.
import {
  type AnswerEvent,
  type EventDetails,
  type EventReader,
  type EventReading,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type UsageReport,
} from '../../wire/index.ts';
import { ParsedEvent, parseEvent, textBytesOf } from '../index.ts';
import { readUsageReport } from './converse-usage.ts';
import { answerDetails, brokenEnd, structuralNames } from './read-answer.ts';

/** Matches the names of exceptions, which are frames of a stream too. */
const exceptionName = /Exception$/;

/** Opens a reader. A stream is complete if its message has stopped, with or without the usage after it. */
export function openEventReader(): EventReader {
  let isComplete = false;

  function read({ name, text }: { readonly name?: string | undefined; readonly text: string }): EventReading {
    const event = parseEvent(text);
    if (event === undefined) return { kind: 'unreadable' };
    if (name !== undefined && exceptionName.test(name)) return { kind: 'error', error: errorOf(name, event) };
    const brokenEnding = brokenEnd(event);
    if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
    isComplete ||= name === 'messageStop';
    return { kind: 'event', event: new ParsedEvent(name, text, detailsOf(name, event)) };
  }
  return { read, isComplete: () => isComplete };
}

/** Wraps an event that the gateway wrote itself. The event's text is made once, and not parsed again. */
export function writtenEvent(name: string, event: JsonObject, usage?: UsageReport): AnswerEvent {
  return new ParsedEvent(name, JSON.stringify(event), { ...detailsOf(name, event), usage });
}

/**
 * Statuses of the exceptions that a stream can have, from the service model of @aws-sdk/client-bedrock-runtime 3.1162.
 */
const statuses: Readonly<Record<string, number>> = {
  validationException: 400,
  modelTimeoutException: 408,
  modelStreamErrorException: 424,
  throttlingException: 429,
  internalServerException: 500,
  serviceUnavailableException: 503,
};

/** Returns the error; its name may be more precise than its message. */
const errorOf = (name: string, { message }: JsonObject): object => ({
  error: { type: name, message, status: statuses[name] ?? statuses.internalServerException },
});

function detailsOf(name: string | undefined, event: JsonObject): EventDetails {
  const { hasOutput, isOnlyThinking, outputBytes } = outputIn(name, event);
  const isLast = name === 'metadata';
  const usage = isLast ? readUsageReport(event.usage) : undefined;
  return { hasOutput, isOnlyThinking, outputBytes, isLast, usage, ...answerDetails(event) };
}

type EventOutput = Pick<EventDetails, 'hasOutput' | 'isOnlyThinking' | 'outputBytes'>;

const nothing: EventOutput = { hasOutput: false, outputBytes: 0 };

/** Reads the output of an event: a piece with content, the start of thinking, or the reason why the message stopped. */
function outputIn(name: string | undefined, event: JsonObject): EventOutput {
  if (name === 'messageStop') return { hasOutput: isEndWord(event.stopReason), outputBytes: 0 };
  const piece = event.delta ?? event.start;
  if (!isJsonObject(piece)) return nothing;
  const isOnlyThinking = isJsonObject(piece.reasoningContent);
  const outputBytes = textBytesOf(piece, structuralNames);
  return { hasOutput: isOnlyThinking || isFilled(piece), isOnlyThinking, outputBytes };
}

/** True if the value contains anything. It recurses within the depth of an answer. */
function isFilled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value !== null && value !== '' && value !== undefined;
  return Object.values(value).some(isFilled);
}
