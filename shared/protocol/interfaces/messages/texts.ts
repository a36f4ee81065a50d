// Finds the texts that a model reads and writes in Messages, and writes the end of a blocked message.
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
import { openMessageWriter } from './event-writer.ts';

export const messageSettings = commonSettings.union(
  wordsOf(`
    max_tokens stop_sequences thinking container mcp_servers thread anthropic_version anthropic_beta betas inference_geo speed fallbacks
    diagnostics
  `),
);

/** Fields that no model wrote; a stop sequence is the client's own text. */
const facts = answerFacts.union(wordsOf('stop_sequence'));

export const messageTexts: AnswerTexts = {
  answerTexts: (json) => textsOfAnswer(json, facts),
  eventPieces,
  // A field with a holder's name may also be an argument of a tool.
  eventsStandAlone: false,
  spellingFields: new Set(),
  blocked: (json, message) =>
    JSON.stringify({
      id: wordAt(json, 'id'),
      type: 'message',
      role: 'assistant',
      model: wordAt(json, 'model'),
      content: [{ type: 'text', text: message }],
      stop_reason: 'refusal',
      stop_sequence: null,
      stop_details: null,
      usage: parsedAt(json, findMember(json, 'usage')),
    }),
  openBlockedEnd,
};

/** Fields of events whose objects contain the model's text. */
const holders: Readonly<Record<string, string>> = {
  message_start: 'message',
  content_block_start: 'content_block',
  content_block_delta: 'delta',
  message_delta: 'delta',
};

function eventPieces(json: JsonText): EventPiece[] {
  const type = wordAt(json, 'type') ?? '';
  const holder = Object.hasOwn(holders, type) ? holders[type] : undefined;
  return json.members().flatMap(({ name, value }): EventPiece[] => {
    if (name === holder && json.isObject(value)) return piecesOf(json, type, value);
    return answerFacts.has(name) || name === 'index' ? [] : wholeTexts(json, value, name);
  });
}

function piecesOf(json: JsonText, type: string, object: number): EventPiece[] {
  const index = numberAt(json, 'index') ?? 0;
  const isBlockEvent = type.startsWith('content_block');
  const isEncrypted = wordAt(json, 'type', object) === 'redacted_thinking';
  return json.members(object).flatMap(({ name, value }): EventPiece[] => {
    if (isEncrypted && name === 'data') return [];
    if (!isBlockEvent) return facts.has(name) ? [] : wholeTexts(json, value, name);
    return json.isString(value) ? pieceOf(json, value, name, `${index}/${name}`) : wholeTexts(json, value, name);
  });
}

function openBlockedEnd(): BlockedEnd {
  let place = { index: -1, isOpen: false };
  let hasBegun = false;
  let start: object | undefined;
  const write = (use: (writer: ReturnType<typeof openMessageWriter>) => void): EventText[] => {
    const events = openWrittenEvents();
    use(openMessageWriter((event) => events.add(event.type, event), place));
    return events.take();
  };
  return {
    identify(json) {
      const message = objectAt(json, 'message') ?? 0;
      const [id, model] = [wordAt(json, 'id', message), wordAt(json, 'model', message)];
      const usage = parsedAt(json, findMember(json, 'usage', message));
      const end = { stop_reason: null, stop_sequence: null };
      start = { id, type: 'message', role: 'assistant', model, content: [], ...end, usage };
    },
    see(json) {
      hasBegun = true;
      const type = wordAt(json, 'type');
      if (type === 'content_block_start') place = { index: numberAt(json, 'index') ?? 0, isOpen: true };
      else if (type === 'content_block_stop') place = { ...place, isOpen: false };
    },
    message: (text) =>
      write((writer) => {
        if (!hasBegun && start !== undefined) writer.start(start);
        writer.begin({ type: 'text', text: '' });
        writer.addText(text);
        writer.close();
      }),
    end: (usage) =>
      write((writer) =>
        writer.end({ stop_reason: 'refusal', stop_sequence: null }, { usage: usage ?? { output_tokens: 0 } }),
      ),
  };
}
