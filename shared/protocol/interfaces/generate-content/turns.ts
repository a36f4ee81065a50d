// Reads Gemini's contents as turns.
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
import { openGeneratedFold } from './stream-fold.ts';

/** Converts the spelling: a stored body is as its client wrote it, so its fields may be in Google's other spelling. */
const inCamelCase = (value: Value): Value =>
  Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replaceAll(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      inner,
    ]),
  );

const requestTurns = (value: Value): ConversationTurn[] => {
  const body = inCamelCase(value);
  const instruction = body.systemInstruction;
  return [
    ...turnOf('system', isObject(instruction) ? partsOf(instruction) : textPart(textIn(instruction))),
    ...objectsIn(body.contents).flatMap((content) =>
      turnOf(content.role === 'model' ? 'assistant' : 'user', partsOf(content)),
    ),
  ];
};

const answerTurns = ({ candidates }: Value): ConversationTurn[] =>
  objectsIn(candidates).flatMap(({ content, finishReason: reason }) =>
    turnOf('assistant', isObject(content) ? partsOf(content) : [], reason == null ? undefined : textIn(reason)),
  );

const partsOf = ({ parts }: Value): ConversationPart[] => objectsIn(parts).flatMap(partOf);

function partOf(value: Value): ConversationPart[] {
  const part = inCamelCase(value);
  const { text, thought, functionCall, functionResponse, inlineData } = part;
  if (typeof text === 'string') return thought === true ? thinkingPart(text) : textPart(text);
  if (isObject(functionCall)) {
    const { id, name, args } = functionCall;
    return [{ kind: 'tool_call', id: textIn(id), name: textIn(name), text: asText(args) }];
  }
  if (isObject(functionResponse)) {
    const { id, name, response, parts } = functionResponse;
    return [
      { kind: 'tool_result', id: textIn(id) || textIn(name), text: asText(response) },
      ...objectsIn(parts).flatMap(partOf),
    ];
  }
  if (isObject(inlineData)) {
    const { mimeType, data } = inCamelCase(inlineData);
    if (textIn(mimeType).startsWith('image/'))
      return [{ kind: 'image', url: `data:${textIn(mimeType)};base64,${textIn(data)}` }];
  }
  return [otherPart(part)];
}

function streamTurns(events: readonly Value[]): ConversationTurn[] {
  const fold = openGeneratedFold();
  for (const event of events) fold.add(event);
  return answerTurns(fold.answer());
}

export const generatedTurns: TurnsOfBodies = {
  readRequest: requestTurns,
  readAnswer: answerTurns,
  readStream: streamTurns,
};
