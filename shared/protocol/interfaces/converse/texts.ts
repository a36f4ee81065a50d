// Finds the texts that a model reads and writes in Converse, and writes the end of a blocked answer.
import { type EventText, findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece, FoundText } from '../index.ts';
import {
  itemsOf,
  numberAt,
  objectAt,
  openWrittenEvents,
  parsedAt,
  pieceOf,
  stringsIn,
  textsIn,
  wholeTexts,
  wordAt,
  wordsOf,
} from '../index.ts';
import { type ConverseWriter, openConverseWriter } from './event-writer.ts';

/** Fields at the top of a request that no model reads. */
const settings = wordsOf(`
  modelId models provider cache preset inferenceConfig guardrailConfig requestMetadata performanceConfig serviceTier
  additionalModelResponseFieldPaths
`);

/** Fields of an answer that no model wrote. */
const facts = wordsOf('usage metrics stopReason performanceConfig serviceTier role contentBlockIndex p');

export function* textsOfConverse(json: JsonText, top = 0): Generator<FoundText | undefined> {
  for (const { name, value } of json.members(top)) {
    if (settings.has(name)) continue;
    const counted = name === 'input' ? objectAt(json, 'converse', value) : undefined;
    if (counted !== undefined) yield* textsOfConverse(json, counted);
    else if (name === 'messages') for (const message of itemsOf(json, value)) yield* textsOfMessage(json, message);
    else yield* textsIn(json, value, name);
  }
}

function* textsOfMessage(json: JsonText, message: number): Generator<FoundText | undefined> {
  if (!json.isObject(message)) return;
  for (const { name, value } of json.members(message)) {
    if (name !== 'content') yield* textsIn(json, value, name);
    else for (const block of itemsOf(json, value)) yield* textsOfBlock(json, block);
  }
}

/** Yields the texts of a block. Thinking with a signature is dropped as a whole block. */
function* textsOfBlock(json: JsonText, block: number): Generator<FoundText | undefined> {
  if (!json.isObject(block)) return;
  for (const { name, value } of json.members(block)) {
    if (name === 'toolResult' && json.isObject(value)) yield* textsOfResult(json, value);
    else if (name === 'reasoningContent' && isSigned(json, value)) {
      yield* textsIn(json, value, name, { signedItem: block });
    } else yield* textsIn(json, value, name);
  }
}

function isSigned(json: JsonText, reasoning: number): boolean {
  const thinking = json.isObject(reasoning) ? objectAt(json, 'reasoningText', reasoning) : undefined;
  return thinking !== undefined && (wordAt(json, 'signature', thinking) ?? '') !== '';
}

/** Yields the texts of a result. JSON in a result has fields of any name, which the model reads too. */
function* textsOfResult(json: JsonText, result: number): Generator<FoundText | undefined> {
  for (const { name, value } of json.members(result)) {
    if (name !== 'content') yield* textsIn(json, value, name);
    else
      for (const item of itemsOf(json, value)) {
        const document = json.isObject(item) ? findMember(json, 'json', item) : undefined;
        if (document === undefined) yield* textsIn(json, item, name, { isListed: true });
        else {
          yield* namesIn(json, document);
          yield* stringsIn(json, document);
        }
      }
  }
}

/** Number of values that are processed within a millisecond. */
const stepValues = 2_048;

/** Yields the name of every field in a value. It recurses within the depth of a body. */
function* namesIn(json: JsonText, value: number): Generator<FoundText | undefined> {
  if (!json.isObject(value) && !json.isArray(value)) return;
  for (const inner of json.inside(value)) {
    if (inner % stepValues === 0) yield undefined;
    const text = json.isObject(value) ? json.name(inner) : '';
    if (text.trim() !== '') yield { value: inner, text, kind: 'name' };
    yield* namesIn(json, inner);
  }
}

export const converseTexts: AnswerTexts = {
  eventsStandAlone: false,
  answerTexts,
  eventPieces,
  spellingFields: new Set(),
  blocked: (json, message) =>
    JSON.stringify({
      output: { message: { role: 'assistant', content: [{ text: message }] } },
      stopReason: 'guardrail_intervened',
      usage: parsedAt(json, findMember(json, 'usage')),
      metrics: parsedAt(json, findMember(json, 'metrics')),
    }),
  openBlockedEnd,
};

function* answerTexts(json: JsonText): Generator<FoundText | undefined> {
  for (const { name, value } of json.members()) {
    if (facts.has(name)) continue;
    const message = name === 'output' ? objectAt(json, 'message', value) : undefined;
    if (message === undefined) yield* textsIn(json, value, name);
    else yield* textsOfMessage(json, message);
  }
}

function eventPieces(json: JsonText): EventPiece[] {
  const index = numberAt(json, 'contentBlockIndex') ?? 0;
  return json.members().flatMap(({ name, value }): EventPiece[] => {
    if (facts.has(name)) return [];
    return name === 'delta' && json.isObject(value) ? piecesOf(json, value, `${index}`) : wholeTexts(json, value, name);
  });
}

function piecesOf(json: JsonText, delta: number, channel: string): EventPiece[] {
  return json.members(delta).flatMap(({ name, value }): EventPiece[] => {
    if (json.isString(value)) return pieceOf(json, value, name, `${channel}/${name}`);
    if (name === 'toolUse' && json.isObject(value)) return inputPieces(json, value, `${channel}/toolUse`);
    if (name === 'reasoningContent' && json.isObject(value))
      return piecesOf(json, value, `${channel}/reasoningContent`);
    return name === 'redactedContent' ? [] : wholeTexts(json, value, name);
  });
}

/** Returns the input of a call, which arrives as pieces of text. */
const inputPieces = (json: JsonText, toolUse: number, channel: string): EventPiece[] =>
  json.members(toolUse).flatMap(({ name, value }): EventPiece[] => {
    if (name !== 'input' || !json.isString(value)) return wholeTexts(json, value, name);
    return pieceOf(json, value, name, `${channel}/${name}`).map((piece) => ({ ...piece, kind: 'call' }));
  });

function openBlockedEnd(): BlockedEnd {
  let place = { index: -1, isOpen: false };
  let hasBegun = false;
  const write = (use: (writer: ConverseWriter) => void): EventText[] => {
    const events = openWrittenEvents();
    use(openConverseWriter(events.add, place));
    return events.take();
  };
  return {
    see(json) {
      hasBegun = true;
      const index = numberAt(json, 'contentBlockIndex');
      if (index === undefined) return;
      place = { index, isOpen: findMember(json, 'delta') !== undefined || findMember(json, 'start') !== undefined };
    },
    message: (text) =>
      write((writer) => {
        if (!hasBegun) writer.start('assistant');
        writer.begin();
        writer.addText(text);
        writer.close();
      }),
    end: (usage) =>
      write((writer) =>
        writer.end(
          { stopReason: 'guardrail_intervened' },
          { usage: usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 }, metrics: { latencyMs: 0 } },
        ),
      ),
  };
}
