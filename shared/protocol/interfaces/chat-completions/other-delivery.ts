// A whole chat completion, and its chunks.
import {
  doneText,
  type EventText,
  findMember,
  isEndWord,
  isJsonObject,
  type JsonText,
  parseJson,
  stringifyInTurns,
} from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { emptyFields, type Fields, itemsOf, stringAt, withFields } from '../index.ts';
import { addPieces } from './join-pieces.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: ({ json }) => chunksOf(json),
  openFold: foldChunks,
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

interface FoldedChoice {
  readonly message: Fields;
  readonly beside: Fields;
  reason: string | undefined;
}

function foldChunks(): StreamFold {
  const head = emptyFields();
  const choices = new Map<number, FoldedChoice>();

  function addChoice(choice: Record<string, unknown>, place: number): void {
    const { index, delta, message, finish_reason: reason, ...beside } = choice;
    const at = typeof index === 'number' ? index : place;
    const folded = choices.get(at) ?? { message: emptyFields(), beside: emptyFields(), reason: undefined };
    choices.set(at, folded);
    const said = delta ?? message;
    if (isJsonObject(said)) addPieces(folded.message, said);
    addPieces(folded.beside, beside);
    if (isEndWord(reason)) folded.reason = reason;
  }

  return {
    add(text) {
      const chunk = parseJson(text);
      if (!isJsonObject(chunk)) return;
      const { choices: list, ...beside } = chunk;
      for (const [name, value] of Object.entries(beside)) if (value !== null) head[name] = value;
      for (const [place, choice] of (Array.isArray(list) ? list : []).entries()) {
        if (isJsonObject(choice)) addChoice(choice, place);
      }
    },
    whole(nextTurn) {
      const { usage, ...rest } = head;
      const answer = {
        ...rest,
        object: 'chat.completion',
        choices: [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => wholeChoice(index, choice)),
        ...(usage === undefined ? {} : { usage }),
      };
      return stringifyInTurns(answer, nextTurn);
    },
  };
}

function wholeChoice(index: number, { message, beside, reason }: FoldedChoice): object {
  const { role = 'assistant', content = null, tool_calls: calls, ...said } = message;
  return {
    index,
    message: { role, content, ...said, ...(Array.isArray(calls) ? { tool_calls: calls.map(withoutPlace) } : {}) },
    ...beside,
    finish_reason: reason ?? 'stop',
  };
}

function withoutPlace(call: unknown): unknown {
  if (!isJsonObject(call)) return call;
  const { index: _place, ...rest } = call;
  return rest;
}
