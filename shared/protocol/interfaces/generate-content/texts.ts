// Finds the texts that a model reads and writes in Gemini's interface, and writes the end of a blocked answer.
import { findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece } from '../index.ts';
import {
  commonSettings,
  itemsOf,
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

/**
 * Fields that no model reads. `generationConfig` is not in the list, because the model reads its schemas, and its stop
 * sequences are text of the client.
 */
export const settings = commonSettings.union(wordsOf('safetySettings labels cachedContent serviceTier toolConfig'));

const facts = wordsOf('usageMetadata modelVersion responseId createTime promptFeedback modelStatus gw');

export const generatedTexts: AnswerTexts = {
  answerTexts: (json) => textsOfAnswer(json, facts),
  eventPieces,
  spellingFields: wordsOf('logprobsResult'),
  blocked: (json, message) =>
    JSON.stringify(blockedAnswer(json, message, parsedAt(json, findMember(json, 'usageMetadata')))),
  eventsStandAlone: false,
  openBlockedEnd,
};

const blockedAnswer = (json: JsonText, message: string, usageMetadata: unknown) => ({
  candidates: [{ content: { parts: [{ text: message }], role: 'model' }, finishReason: 'SAFETY', index: 0 }],
  ...(usageMetadata === undefined ? {} : { usageMetadata }),
  modelVersion: wordAt(json, 'modelVersion'),
  responseId: wordAt(json, 'responseId'),
});

function eventPieces(json: JsonText): EventPiece[] {
  return json.members().flatMap(({ name, value }): EventPiece[] => {
    if (facts.has(name)) return [];
    return name === 'candidates'
      ? itemsOf(json, value).flatMap((candidate) => candidatePieces(json, candidate))
      : wholeTexts(json, value, name);
  });
}

function candidatePieces(json: JsonText, candidate: number): EventPiece[] {
  if (!json.isObject(candidate)) return [];
  const index = numberAt(json, 'index', candidate) ?? 0;
  const content = objectAt(json, 'content', candidate);
  const parts = content === undefined ? [] : itemsOf(json, findMember(json, 'parts', content));
  const beside = json.members(candidate).filter(({ name }) => name !== 'content');
  return [
    ...parts.flatMap((part) => partPieces(json, part, index)),
    ...beside.flatMap(({ name, value }) => wholeTexts(json, value, name)),
  ];
}

/** Returns the pieces of a part. A thought continues the thought before it, and a text continues the text before it. */
function partPieces(json: JsonText, part: number, index: number): EventPiece[] {
  if (!json.isObject(part)) return wholeTexts(json, part, 'text');
  const text = findMember(json, 'text', part);
  if (text === undefined || !json.isString(text)) return wholeTexts(json, part, 'parts');
  const thought = findMember(json, 'thought', part);
  const kind = thought !== undefined && json.slice(thought) === 'true' ? 'thought' : 'text';
  return json
    .members(part)
    .flatMap(({ name, value }): EventPiece[] =>
      json.isString(value) ? pieceOf(json, value, name, `${index}/${kind}/${name}`) : wholeTexts(json, value, name),
    );
}

function openBlockedEnd(): BlockedEnd {
  let about: object = {};
  const note = (json: JsonText): void => {
    about = { modelVersion: wordAt(json, 'modelVersion'), responseId: wordAt(json, 'responseId') };
  };
  const events = openWrittenEvents();
  const writer = openChunkWriter(
    (chunk) => events.add(undefined, chunk),
    () => about,
  );
  return {
    identify: note,
    see: note,
    message(text) {
      writer.add({ text });
      return events.take();
    },
    end(usage) {
      writer.end({ finishReason: 'SAFETY' }, usage);
      return events.take();
    },
  };
}
