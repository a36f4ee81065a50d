// Messages as turns.
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
import { openMessageFold } from './stream-fold.ts';

const messagesRequest = ({ system, messages }: Value): ConversationTurn[] => [
  ...turnOf('system', blocksOf(system)),
  ...objectsIn(messages).flatMap(({ role, content }) => turnOf(textIn(role), blocksOf(content))),
];

const messagesAnswer = ({ content, stop_reason: reason }: Value): ConversationTurn[] => [
  ...turnOf('assistant', blocksOf(content), reason == null ? undefined : textIn(reason)),
];

const blocksOf = (content: unknown): ConversationPart[] =>
  typeof content === 'string' ? textPart(content) : objectsIn(content).flatMap(blockParts);

function blockParts(block: Value): ConversationPart[] {
  const { type, source, content } = block;
  if (type === 'text') return textPart(textIn(block.text));
  if (type === 'thinking') return thinkingPart(textIn(block.thinking));
  if (type === 'image' && isObject(source)) return [{ kind: 'image', url: addressOf(source) }];
  if (type === 'tool_use') {
    const { id, name, input } = block;
    return [{ kind: 'tool_call', id: textIn(id), name: textIn(name), text: asText(input) }];
  }
  if (type !== 'tool_result') return [otherPart(block)];
  const images = objectsIn(content).filter((one) => one.type === 'image');
  const texts = objectsIn(content).filter((one) => one.type !== 'image');
  const text = typeof content === 'string' ? content : texts.map((one) => one.text ?? asText(one)).join('\n');
  return [{ kind: 'tool_result', id: textIn(block.tool_use_id), text }, ...images.flatMap(blockParts)];
}

const addressOf = ({ type, url, media_type: media, data }: Value): string =>
  type === 'base64' ? `data:${textIn(media)};base64,${textIn(data)}` : textIn(url);

/** Reads the events as the message that is assembled from them. */
function messagesStream(events: readonly Value[]): ConversationTurn[] {
  // The input is shown as it was written, complete or not.
  const fold = openMessageFold((text) => text);
  for (const event of events) fold.add(event);
  return messagesAnswer(fold.answer());
}

export const messageTurns: TurnsOfBodies = {
  readRequest: messagesRequest,
  readAnswer: messagesAnswer,
  readStream: messagesStream,
};
