// Responses as turns.
import {
  asText,
  type ConversationPart,
  type ConversationTurn,
  isObject,
  objectsIn,
  otherPart,
  pieces,
  type TurnsOfBodies,
  textIn,
  textPart,
  thinkingPart,
  turnOf,
  type Value,
} from '../../conversation/index.ts';

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

/** The whole response where its last event came, else its texts so far. */
function responsesStream(events: readonly Value[]): ConversationTurn[] {
  const last = events.findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(textIn(type)));
  if (isObject(last?.response)) return responsesAnswer(last.response);
  const items = new Map<string, Value>();
  const texts = pieces();
  for (const { type, output_index: index, item, delta } of events) {
    const at = String(index ?? 0);
    if (type === 'response.output_item.added' && isObject(item)) items.set(at, item);
    if (
      /^response\.(output_text|reasoning_\w+|function_call_arguments|custom_tool_call_input)\.delta$/.test(textIn(type))
    ) {
      texts.add(at, textIn(delta));
    }
  }
  const output = [...items].map(([at, item]) => {
    const text = texts.of(at);
    if (item.type === 'message') return { ...item, content: [{ type: 'output_text', text }] };
    return item.type === 'reasoning' ? { ...item, summary: [{ text }] } : { ...item, arguments: text, input: text };
  });
  return responsesAnswer({ output });
}

export const responseTurns: TurnsOfBodies = {
  ofRequest: responsesRequest,
  ofAnswer: responsesAnswer,
  ofStream: responsesStream,
};
