// Finds the texts that a model reads and writes in a chat completion, and writes the end of a blocked answer.
import { type EventText, findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece } from '../index.ts';
import {
  answerFacts,
  commonSettings,
  numberAt,
  objectAt,
  openWrittenEvents,
  parsedAt,
  pieceOf,
  textsOfAnswer,
  wholeTexts,
  wordAt,
  wordsOf,
} from '../index.ts';
import { openChunkWriter } from './chunk-writer.ts';

export const chatSettings = commonSettings.union(
  wordsOf(`
    reasoning reasoning_effort modalities audio logit_bias plugins web_search_options parallel_tool_calls function_call
    max_tokens max_completion_tokens
  `),
);

export const chatTexts: AnswerTexts = {
  answerTexts: (json) => textsOfAnswer(json, answerFacts),
  eventPieces: (json) =>
    json.members().flatMap(({ name, value }): EventPiece[] => {
      if (answerFacts.has(name)) return [];
      return name === 'choices' ? piecesOfChoices(json, value) : wholeTexts(json, value, name);
    }),
  eventsStandAlone: false,
  spellingFields: wordsOf('logprobs'),
  blocked: blockedCompletion,
  openBlockedEnd,
};

const itemsIn = (json: JsonText, list: number): number[] => (json.isArray(list) ? [...json.inside(list)] : []);

function piecesOfChoices(json: JsonText, choices: number): EventPiece[] {
  return itemsIn(json, choices).flatMap((choice, place) =>
    json.isObject(choice) ? [...piecesIn(json, choice, String(numberAt(json, 'index', choice) ?? place))] : [],
  );
}

/**
 * Yields each string with the path of names that leads to it; for lists the path has the index that their items state.
 */
function* piecesIn(json: JsonText, value: number, path: string): Generator<EventPiece> {
  if (json.isObject(value)) {
    for (const { name, value: inner } of json.members(value)) {
      const innerPath = `${path}/${name}`;
      // These are media, and thinking that only its provider reads.
      if (name === 'data') continue;
      if (json.isString(inner)) yield* pieceOf(json, inner, name, innerPath);
      else if (name !== 'logprobs') yield* piecesIn(json, inner, innerPath);
    }
  } else if (json.isArray(value)) {
    let place = 0;
    for (const inner of json.inside(value)) {
      const index = json.isObject(inner) ? numberAt(json, 'index', inner) : undefined;
      if (json.isString(inner)) yield* pieceOf(json, inner, '', `${path}/${place}`);
      else yield* piecesIn(json, inner, `${path}/${index ?? place}`);
      place += 1;
    }
  }
}

function blockedCompletion(json: JsonText, content: string): string {
  const choices = findMember(json, 'choices');
  const places = choices === undefined ? [] : itemsIn(json, choices).filter((choice) => json.isObject(choice));
  return JSON.stringify({
    ...headOf(json, 'chat.completion'),
    choices: places.map((choice, place) => ({
      index: numberAt(json, 'index', choice) ?? place,
      message: { role: 'assistant', content, refusal: null },
      logprobs: null,
      finish_reason: 'content_filter',
    })),
    ...usageOf(json),
    ...executionOf(json),
  });
}

const headOf = (json: JsonText, object: string) => ({
  id: wordAt(json, 'id'),
  object: wordAt(json, 'object') ?? object,
  created: numberAt(json, 'created'),
  model: wordAt(json, 'model'),
});

/** Returns the ids of a stored function's execution, which the gateway writes itself. */
function executionOf(json: JsonText): object {
  const execution = objectAt(json, 'gw');
  return execution === undefined ? {} : { gw: parsedAt(json, execution) };
}

const usageOf = (json: JsonText): object => {
  const usage = parsedAt(json, findMember(json, 'usage'));
  return usage === undefined ? {} : { usage };
};

function openBlockedEnd(): BlockedEnd {
  let head: object = {};
  const identify = (json: JsonText) => {
    head = headOf(json, 'chat.completion.chunk');
  };
  const open = new Set([0]);
  let hasBegun = false;
  const write = (use: (writer: ReturnType<typeof openChunkWriter>) => void): EventText[] => {
    const events = openWrittenEvents();
    use(openChunkWriter((chunk) => events.add(undefined, { ...head, ...chunk })));
    return events.take();
  };
  return {
    identify,
    see(json) {
      identify(json);
      hasBegun = true;
      const list = findMember(json, 'choices');
      for (const choice of list === undefined ? [] : itemsIn(json, list)) {
        const index = numberAt(json, 'index', choice) ?? 0;
        if (wordAt(json, 'finish_reason', choice) === undefined) open.add(index);
        else open.delete(index);
      }
    },
    message: (content) =>
      write((writer) => writer.add([...open], { ...(hasBegun ? {} : { role: 'assistant' }), content })),
    end: (usage) =>
      write((writer) => {
        writer.end([...open].map((index) => [index, 'content_filter']));
        if (usage !== undefined) writer.usage(usage);
      }),
  };
}
