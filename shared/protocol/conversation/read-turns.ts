// Reads stored bodies as a conversation. The bodies are a request, and an answer as JSON or as the transcript of a
// stream. A body that was cut, or whose interface has no turns, is not a conversation. This module runs in browsers
// too.
import { createParser } from 'eventsource-parser';
import { type ConversationTurn, isObject, type Value } from './conversation.ts';

/** The functions with which an interface reads its bodies as turns. */
export interface TurnsOfBodies {
  readonly readRequest: (body: Value) => readonly ConversationTurn[];
  readonly readAnswer: (body: Value) => readonly ConversationTurn[];
  readonly readStream: (events: readonly Value[]) => readonly ConversationTurn[];
}

/** Returns undefined if the body is not a conversation. */
export function readRequestTurns(
  reader: TurnsOfBodies | undefined,
  text: string,
): readonly ConversationTurn[] | undefined {
  const body = parsed(text);
  const turns = isObject(body) ? reader?.readRequest(body) : undefined;
  return turns?.length === 0 ? undefined : turns;
}

export function readAnswerTurns(
  reader: TurnsOfBodies | undefined,
  text: string,
): readonly ConversationTurn[] | undefined {
  const body = parsed(text);
  const turns = isObject(body) ? reader?.readAnswer(body) : reader?.readStream(eventsIn(text));
  return turns?.length === 0 ? undefined : turns;
}

function eventsIn(transcript: string): Value[] {
  const events: Value[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = parsed(data);
      if (isObject(event)) events.push(event);
    },
  });
  parser.feed(`${transcript}\n\n`);
  return events;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
