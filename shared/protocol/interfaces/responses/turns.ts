// Responses as turns.
import {
  asText,
  type ConversationPart,
  type ConversationTurn,
  objectsIn,
  otherPart,
  type TurnsOfBodies,
  textIn,
  textPart,
  thinkingPart,
  turnOf,
  type Value,
} from '../../conversation/index.ts';
import { openResponseFold } from './stream-fold.ts';

const responsesRequest = ({ instructions, input }: Value): ConversationTurn[] => [
  ...turnOf('system', textPart(textIn(instructions))),
  ...(typeof input === 'string' ? turnOf('user', textPart(input)) : objectsIn(input).flatMap(itemTurn)),
];

const responsesAnswer = ({ output, status }: Value): ConversationTurn[] => [
  ...turnOf('assistant', objectsIn(output).flatMap(itemParts), status == null ? undefined : textIn(status)),
];

function itemTurn(item: Value): readonly ConversationTurn[] {
  const isResult = textIn(item.type).endsWith('_output');
  const role = textIn(item.role) || (isResult ? 'tool' : 'assistant');
  return turnOf(role, itemParts(item));
}

function itemParts(item: Value): ConversationPart[] {
  const { type = 'message', id, call_id: callId = id, content } = item;
  const [call, written] = [textIn(callId), item.arguments ?? item.input];
  if (type === 'message') return typeof content === 'string' ? textPart(content) : objectsIn(content).map(contentPart);
  if (type === 'reasoning') {
    return thinkingPart([...objectsIn(item.summary), ...objectsIn(content)].map(({ text }) => textIn(text)).join('\n'));
  }
  if (type === 'function_call' || type === 'custom_tool_call') {
    return [{ kind: 'tool_call', id: call, name: textIn(item.name), text: asText(written) }];
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    return [{ kind: 'tool_result', id: call, text: asText(item.output) }];
  }
  return [otherPart(item)];
}

function contentPart(part: Value): ConversationPart {
  const { type, text, refusal, image_url: image } = part;
  if (type === 'input_text' || type === 'output_text') return { kind: 'text', text: textIn(text) };
  if (type === 'refusal') return { kind: 'text', text: textIn(refusal) };
  return type === 'input_image' && typeof image === 'string' ? { kind: 'image', url: image } : otherPart(part);
}

/** Reads the events as the response that is assembled from them, complete or not. */
function responsesStream(events: readonly Value[]): ConversationTurn[] {
  const fold = openResponseFold();
  for (const event of events) fold.add(event);
  const { status, ...response } = fold.answer();
  return responsesAnswer({ ...response, ...(status === 'in_progress' ? {} : { status }) });
}

export const responseTurns: TurnsOfBodies = {
  readRequest: responsesRequest,
  readAnswer: responsesAnswer,
  readStream: responsesStream,
};
