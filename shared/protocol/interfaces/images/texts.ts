// Finds the texts of an answer of images, which describe the picture, and writes the end of a blocked answer, which has
// no images.
import { type EventText, findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece, FoundText } from '../index.ts';
import { answerFacts, parsedAt, textsIn, wholeTexts, wordsOf } from '../index.ts';

/** Fields with the settings of the images, each a single word. Prose in these fields counts as text. */
const settings = wordsOf('background output_format quality size');
const isWord = /^"[\w.:/@+-]{0,64}"$/;
const imageField = 'b64_json';

/** True for a value that is not text. An image of megabytes, which contains no blank, never becomes a value. */
const isNoText = (json: JsonText, name: string, value: number): boolean =>
  answerFacts.has(name) ||
  (settings.has(name) && isWord.test(json.slice(value))) ||
  (name === imageField && !json.slice(value).includes(' '));

/** `prefix` is the prefix of its events' types. */
export const imageTexts = (prefix: string): AnswerTexts => ({
  eventsStandAlone: true,
  *answerTexts(json): Generator<FoundText | undefined> {
    for (const { name, value } of json.members()) if (!isNoText(json, name, value)) yield* textsIn(json, value, name);
  },
  eventPieces: (json): EventPiece[] =>
    json.members().flatMap(({ name, value }) => (isNoText(json, name, value) ? [] : wholeTexts(json, value, name))),
  spellingFields: new Set(),
  blocked(json, message) {
    const [created, usage] = [parsedAt(json, findMember(json, 'created')), parsedAt(json, findMember(json, 'usage'))];
    return JSON.stringify({ created: created ?? 0, data: [{ revised_prompt: message }], ...withUsage(usage) });
  },
  openBlockedEnd: () => openBlockedEnd(`${prefix}.completed`),
});

const withUsage = (usage: unknown): object => (usage === undefined ? {} : { usage });

/** Returns one image without bytes, with the message in place of its description. */
function openBlockedEnd(type: string): BlockedEnd {
  let created: unknown;
  let message = '';
  const see = (json: JsonText) => {
    created ??= parsedAt(json, findMember(json, 'created_at'));
  };
  return {
    see,
    identify: see,
    message(text) {
      message = text;
      return [];
    },
    end(usage): EventText[] {
      const words = { background: 'auto', output_format: 'png', quality: 'auto', size: 'auto' };
      const event = { type, [imageField]: '', created_at: created ?? 0, ...words, revised_prompt: message };
      return [{ name: type, text: JSON.stringify({ ...event, ...withUsage(usage) }) }];
    },
  };
}
