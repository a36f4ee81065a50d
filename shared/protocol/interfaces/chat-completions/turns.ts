// Reads chat completions as turns.
import {
  asText,
  type ConversationPart,
  type ConversationTurn,
  isObject,
  objectsIn,
  otherPart,
  type TurnsOfBodies,
  textIn,
  textPart,
  thinkingPart,
  turnOf,
  type Value,
} from '../../conversation/index.ts';
import { openCompletionFold } from './stream-fold.ts';

const chatRequest = (body: Value): ConversationTurn[] => objectsIn(body.messages).flatMap(messageTurn);

const chatAnswer = (body: Value): ConversationTurn[] =>
  objectsIn(body.choices).flatMap(({ message, finish_reason: reason }) =>
    isObject(message) ? turnOf('assistant', partsOf(message), reason == null ? undefined : textIn(reason)) : [],
  );

function messageTurn(message: Value): readonly ConversationTurn[] {
  const role = textIn(message.role);
  if (role !== 'tool') return turnOf(role, partsOf(message));
  const id = textIn(message.tool_call_id);
  return turnOf(role, [{ kind: 'tool_result', id, text: partsText(message.content) }]);
}

const partsText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objectsIn(content)
        .map(({ text, ...part }) => text ?? asText(part))
        .join('\n');

const partsOf = (message: Value): ConversationPart[] => [
  ...thinkingPart(textIn(message.reasoning) || textIn(message.reasoning_content)),
  ...(typeof message.content === 'string' ? textPart(message.content) : objectsIn(message.content).map(contentPart)),
  ...textPart(textIn(message.refusal)),
  ...objectsIn(message.tool_calls).map(callPart),
];

function contentPart(part: Value): ConversationPart {
  if (part.type === 'text') return { kind: 'text', text: textIn(part.text) };
  const image = isObject(part.image_url) ? part.image_url.url : part.image_url;
  return part.type === 'image_url' ? { kind: 'image', url: textIn(image) } : otherPart(part);
}

function callPart({ id, function: fn, custom }: Value): ConversationPart {
  const { name, arguments: written, input }: Value = isObject(fn) ? fn : isObject(custom) ? custom : {};
  return { kind: 'tool_call', id: textIn(id), name: textIn(name), text: textIn(written ?? input) };
}

/** Reads the chunks as the answer that is assembled from them. */
function chatStream(events: readonly Value[]): ConversationTurn[] {
  const fold = openCompletionFold();
  for (const event of events) fold.add(event);
  return chatAnswer(fold.answer());
}

export const chatTurns: TurnsOfBodies = { readRequest: chatRequest, readAnswer: chatAnswer, readStream: chatStream };
