// Chat completions as turns.
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

function callPart({ id, function: called, custom }: Value): ConversationPart {
  const { name, arguments: written, input }: Value = isObject(called) ? called : isObject(custom) ? custom : {};
  return { kind: 'tool_call', id: textIn(id), name: textIn(name), text: textIn(written ?? input) };
}

/** The deltas of a stream, put together as an answer would have them. */
function chatStream(events: readonly Value[]): ConversationTurn[] {
  const choices = new Map<string, { calls: Map<string, Value>; reason: unknown }>();
  const texts = pieces();
  for (const choice of events.flatMap((event) => objectsIn(event.choices))) {
    const at = String(choice.index ?? 0);
    const seen = choices.get(at) ?? { calls: new Map(), reason: null };
    choices.set(at, seen);
    seen.reason = choice.finish_reason ?? seen.reason;
    const delta = isObject(choice.delta) ? choice.delta : {};
    for (const name of ['content', 'reasoning', 'reasoning_content', 'refusal'])
      texts.add(`${at} ${name}`, textIn(delta[name]));
    for (const { index, id, function: called, custom } of objectsIn(delta.tool_calls)) {
      const place = String(index ?? 0);
      const one: Value = isObject(called) ? called : isObject(custom) ? custom : {};
      const former = seen.calls.get(place) ?? {};
      seen.calls.set(place, { id: id ?? former.id, name: one.name ?? former.name });
      texts.add(`${at} call ${place}`, textIn(one.arguments ?? one.input));
    }
  }
  const whole = [...choices].map(([at, { calls, reason }]) => ({
    finish_reason: reason,
    message: {
      ...Object.fromEntries(
        ['content', 'reasoning', 'reasoning_content', 'refusal'].map((name) => [name, texts.of(`${at} ${name}`)]),
      ),
      tool_calls: [...calls].map(([place, { id, name }]) => ({
        id,
        function: { name, arguments: texts.of(`${at} call ${place}`) },
      })),
    },
  }));
  return chatAnswer({ choices: whole });
}

export const chatTurns: TurnsOfBodies = { ofRequest: chatRequest, ofAnswer: chatAnswer, ofStream: chatStream };
