// Converts a whole chat completion to its chunks, and chunks to a completion.
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
import { itemsOf, JsonSlice, jsonWithSlices, objectAt, stringAt, withFields } from '../index.ts';
import { openChunkWriter } from './chunk-writer.ts';
import { openCompletionFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => chunksOf(json),
  openFold,
};

function* chunksOf(json: JsonText): Generator<EventText> {
  const answer = withFields(json, 0, { choices: undefined, usage: undefined, object: '"chat.completion.chunk"' });
  const events: EventText[] = [];
  const writer = openChunkWriter((chunk) => {
    events.push({ text: `${answer.slice(0, -1)},${jsonWithSlices(chunk).slice(1)}` });
  });
  const choices = itemsOf(json, findMember(json, 'choices')).filter((choice) => json.isObject(choice));
  const indices = choices.map((choice, place) => {
    const index = findMember(json, 'index', choice);
    return index === undefined || !json.isNumber(index) ? String(place) : json.slice(index);
  });
  writer.addChoices(
    choices.map((choice, place) => {
      const delta = { message: undefined, index: indices[place], delta: deltaOf(json, choice), finish_reason: 'null' };
      return new JsonSlice(withFields(json, choice, delta));
    }),
  );
  writer.end(
    choices.map((choice, place) => {
      const reason = stringAt(json, findMember(json, 'finish_reason', choice));
      return [new JsonSlice(indices[place] ?? ''), isEndWord(reason) ? reason : 'stop'];
    }),
  );
  const usage = objectAt(json, 'usage');
  if (usage !== undefined) writer.usage(new JsonSlice(json.slice(usage)));
  yield* events;
  yield { text: doneText };
}

/** Returns the delta of a choice, in which each call has its index. */
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

/** Opens a fold. A relayed answer that ended without a finish reason gets a finish reason. */
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
