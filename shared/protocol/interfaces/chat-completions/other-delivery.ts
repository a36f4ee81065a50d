// A whole chat completion, and its chunks.
import {
  doneText,
  type EventText,
  findMember,
  isEndWord,
  isJsonObject,
  type JsonObject,
  type JsonText,
  parseJson,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { itemsOf, stringAt, withFields } from '../index.ts';
import { openCompletionFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => chunksOf(json),
  openFold,
};

function* chunksOf(json: JsonText): Generator<EventText> {
  const head = withFields(json, 0, { choices: undefined, usage: undefined, object: '"chat.completion.chunk"' });
  const chunk = (choices: readonly string[], more = '') => ({
    text: `${head.slice(0, -1)},"choices":[${choices.join(',')}]${more}}`,
  });
  const choices = itemsOf(json, findMember(json, 'choices')).filter((choice) => json.isObject(choice));
  const indexOf = (choice: number, place: number) => {
    const index = findMember(json, 'index', choice);
    return index === undefined || !json.isNumber(index) ? String(place) : json.slice(index);
  };
  yield chunk(
    choices.map((choice, place) =>
      withFields(json, choice, {
        message: undefined,
        index: indexOf(choice, place),
        delta: deltaOf(json, choice),
        finish_reason: 'null',
      }),
    ),
  );
  yield chunk(
    choices.map((choice, place) => {
      const reason = stringAt(json, findMember(json, 'finish_reason', choice));
      const end = JSON.stringify(isEndWord(reason) ? reason : 'stop');
      return `{"index":${indexOf(choice, place)},"delta":{},"finish_reason":${end}}`;
    }),
  );
  const usage = findMember(json, 'usage');
  if (usage !== undefined && json.isObject(usage)) yield chunk([], `,"usage":${json.slice(usage)}`);
  yield { text: doneText };
}

/** Deltas state the index of a call. */
function deltaOf(json: JsonText, choice: number): string {
  const message = findMember(json, 'message', choice);
  if (message === undefined || !json.isObject(message)) return '{}';
  const calls = findMember(json, 'tool_calls', message);
  if (calls === undefined || !json.isArray(calls)) return json.slice(message);
  const placed = itemsOf(json, calls).map((call, place) =>
    json.isObject(call) ? withFields(json, call, { index: String(place) }) : json.slice(call),
  );
  return withFields(json, message, { tool_calls: `[${placed.join(',')}]` });
}

/** A relayed answer that ended without a word has one all the same. */
function openFold(): StreamFold {
  const fold = openCompletionFold();
  return {
    add(text) {
      const chunk = parseJson(text);
      if (isJsonObject(chunk)) fold.add(chunk);
    },
    whole() {
      const { choices, ...answer } = fold.answer();
      const ended = (choices as JsonObject[]).map((choice) => ({
        ...choice,
        finish_reason: choice.finish_reason ?? 'stop',
      }));
      return { ...answer, choices: ended };
    },
  };
}
