// The texts of an answer of images, which say what was drawn, and the end of one that is blocked: without its images.
import { type EventText, findMember, type JsonText } from '../../wire/index.ts';
import type { AnswerTexts, BlockedEnd, EventPiece, FoundText } from '../index.ts';
import { answerFacts, parsedAt, textsIn, wholeTexts, wordsOf } from '../index.ts';

/** How the images were made, in a word each. Prose under these names is a text. */
const settings = wordsOf('background output_format quality size');
const isWord = /^"[\w.:/@+-]{0,64}"$/;
const imageField = 'b64_json';

/** An image of megabytes is never made a value. It has no blank in it. */
const isNoText = (json: JsonText, name: string, value: number): boolean =>
  answerFacts.has(name) ||
  (settings.has(name) && isWord.test(json.slice(value))) ||
  (name === imageField && !json.slice(value).includes(' '));

/** `prefix`: of the types of its events. */
export const imageTexts = (prefix: string): AnswerTexts => ({
  eventsStandAlone: true,
  *ofAnswer(json): Generator<FoundText | undefined> {
    for (const { name, value } of json.members()) if (!isNoText(json, name, value)) yield* textsIn(json, value, name);
  },
  ofEvent: (json): EventPiece[] =>
    json.members().flatMap(({ name, value }) => (isNoText(json, name, value) ? [] : wholeTexts(json, value, name))),
  spellingFields: new Set(),
  blocked(json, message) {
    const [created, usage] = [parsedAt(json, findMember(json, 'created')), parsedAt(json, findMember(json, 'usage'))];
    return JSON.stringify({ created: created ?? 0, data: [{ revised_prompt: message }], ...withUsage(usage) });
  },
  openBlockedEnd: () => openBlockedEnd(`${prefix}.completed`),
});

const withUsage = (usage: unknown): object => (usage === undefined ? {} : { usage });

/** One image that has no bytes, with the message in place of what was drawn. */
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
