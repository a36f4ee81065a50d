// Reads kept bodies as a conversation: requests and answers of chat completions, Messages and Responses, JSON or the
// transcript of a stream. What is cut, or of another interface, is no conversation. Runs in browsers too.
import { createParser } from 'eventsource-parser';
import { chatAnswer, chatRequest, chatStream } from './chat-conversation.ts';
import { type ConversationTurn, isObject, type Value } from './conversation.ts';
import { messagesAnswer, messagesRequest, messagesStream } from './messages-conversation.ts';
import { responsesAnswer, responsesRequest, responsesStream } from './responses-conversation.ts';

interface Reader {
  readonly request: (body: Value) => ConversationTurn[];
  readonly answer: (body: Value) => ConversationTurn[];
  readonly stream: (events: readonly Value[]) => ConversationTurn[];
}

/** By the name of the interface. */
const readers: ReadonlyMap<string, Reader> = new Map([
  ['chat-completions', { request: chatRequest, answer: chatAnswer, stream: chatStream }],
  ['messages', { request: messagesRequest, answer: messagesAnswer, stream: messagesStream }],
  ['responses', { request: responsesRequest, answer: responsesAnswer, stream: responsesStream }],
]);

/** Undefined where the body is no conversation. */
export function readRequestTurns(interfaceId: string, text: string): readonly ConversationTurn[] | undefined {
  const body = parsed(text);
  const turns = isObject(body) ? readers.get(interfaceId)?.request(body) : undefined;
  return turns?.length === 0 ? undefined : turns;
}

/** The same of an answer. */
export function readAnswerTurns(interfaceId: string, text: string): readonly ConversationTurn[] | undefined {
  const reader = readers.get(interfaceId);
  const body = parsed(text);
  const turns = isObject(body) ? reader?.answer(body) : reader?.stream(eventsIn(text));
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
