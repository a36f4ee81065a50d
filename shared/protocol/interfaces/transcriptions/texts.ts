// Finds the text of a transcription, and writes the end of a blocked transcription.
import { type EventText, findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece } from '../index.ts';
import { answerFacts, parsedAt, pieceOf, textsOfAnswer, wholeTexts, wordAt, wordsOf } from '../index.ts';

/** Fields without new text, which are its task, and its text again, word by word. */
const facts = answerFacts.union(wordsOf('task words language duration'));

export const transcriptionTexts: AnswerTexts = {
  answerTexts: (json) => textsOfAnswer(json, facts),
  eventPieces(json) {
    const delta = findMember(json, 'delta');
    return json.members().flatMap(({ name, value }): EventPiece[] => {
      if (value === delta && json.isString(value)) return pieceOf(json, value, 'text', 'delta');
      return facts.has(name) ? [] : wholeTexts(json, value, name);
    });
  },
  eventsStandAlone: false,
  spellingFields: wordsOf('logprobs words tokens'),
  blocked: (json, message) =>
    JSON.stringify({
      text: inPlaceOf(wordAt(json, 'text') ?? '', message),
      ...fieldIfThere(json, 'duration'),
      ...fieldIfThere(json, 'usage'),
    }),
  openBlockedEnd,
};

const fieldIfThere = (json: JsonText, name: string): object => {
  const value = findMember(json, name);
  return value === undefined ? {} : { [name]: parsedAt(json, value) };
};

/** Returns the message in place of the text; subtitles stay subtitles, of one line. */
function inPlaceOf(text: string, message: string): string {
  if (/^WEBVTT\b/.test(text)) return `WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n${message}\n\n`;
  return /^\d+\r?\n\d+:\d\d:\d\d,/.test(text) ? `1\n00:00:00,000 --> 00:00:01,000\n${message}\n\n` : message;
}

/** Opens a blocked end, whose last event has the whole text. */
function openBlockedEnd(): BlockedEnd {
  let whole = '';
  const event = (more: object): EventText => ({ text: JSON.stringify(more) });
  return {
    see(json) {
      if (wordAt(json, 'type') === 'transcript.text.delta') whole += wordAt(json, 'delta') ?? '';
    },
    message(delta) {
      whole += delta;
      return [event({ type: 'transcript.text.delta', delta })];
    },
    end: (usage) => [event({ type: 'transcript.text.done', text: whole, ...(usage === undefined ? {} : { usage }) })],
  };
}
