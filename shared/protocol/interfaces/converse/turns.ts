// Reads Converse as turns.
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
import { openConverseFold } from './stream-fold.ts';

const converseRequest = ({ system, messages }: Value): ConversationTurn[] => [
  ...turnOf('system', objectsIn(system).flatMap(blockParts)),
  ...objectsIn(messages).flatMap(({ role, content }) => turnOf(textIn(role), objectsIn(content).flatMap(blockParts))),
];

function converseAnswer({ output, stopReason: reason }: Value): ConversationTurn[] {
  const message = isObject(output) && isObject(output.message) ? output.message : {};
  const parts = objectsIn(message.content).flatMap(blockParts);
  return [...turnOf('assistant', parts, reason == null ? undefined : textIn(reason))];
}

function blockParts(block: Value): ConversationPart[] {
  const { text, reasoningContent, image, toolUse, toolResult, cachePoint } = block;
  if (typeof text === 'string') return textPart(text);
  if (cachePoint !== undefined) return [];
  if (isObject(reasoningContent)) {
    const { reasoningText } = reasoningContent;
    return thinkingPart(isObject(reasoningText) ? textIn(reasoningText.text) : '');
  }
  if (isObject(image) && isObject(image.source) && typeof image.source.bytes === 'string')
    return [{ kind: 'image', url: `data:image/${textIn(image.format)};base64,${image.source.bytes}` }];
  if (isObject(toolUse)) {
    const { toolUseId, name, input } = toolUse;
    return [{ kind: 'tool_call', id: textIn(toolUseId), name: textIn(name), text: asText(input) }];
  }
  if (!isObject(toolResult)) return [otherPart(block)];
  const items = objectsIn(toolResult.content);
  const texts = items.filter((one) => one.image === undefined);
  const resultText = texts.map((one) => one.text ?? asText(one.json ?? one)).join('\n');
  const images = items.filter((one) => one.image !== undefined);
  return [{ kind: 'tool_result', id: textIn(toolResult.toolUseId), text: resultText }, ...images.flatMap(blockParts)];
}

/**
 * Reads the events as the answer that is assembled from them. The input is shown as it was written, complete or not.
 */
function converseStream(events: readonly Value[]): ConversationTurn[] {
  const fold = openConverseFold((text) => text);
  for (const event of events) fold.add(event);
  return converseAnswer(fold.answer());
}

export const converseTurns: TurnsOfBodies = {
  readRequest: converseRequest,
  readAnswer: converseAnswer,
  readStream: converseStream,
};
