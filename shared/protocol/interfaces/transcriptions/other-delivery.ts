// Converts a whole transcription to its events, and events to a transcription. A model without events sends a whole
// answer although events were requested.

import { type EventText, findMember, isJsonObject, type JsonAnswer, parseJson } from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { fieldsAsCame, stringAt } from '../index.ts';
import { openTranscriptionFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = {
  toEvents: eventsOf,
  openFold,
};

/** Fields of the last event that a whole answer has too. */
const sharedFields = ['logprobs', 'usage'] as const;

function* eventsOf(answer: JsonAnswer): Generator<EventText> {
  const { json, usage, isPlain } = answer;
  const text = isPlain ? answer.text : (stringAt(json, findMember(json, 'text')) ?? '');
  if (text !== '') yield eventOf('delta', [`"delta":${JSON.stringify(text)}`]);
  const shared = fieldsAsCame(json, sharedFields);
  // The length is the only usage that a verbose answer reports.
  const isLengthAlone = usage?.seconds !== undefined && findMember(json, 'usage') === undefined;
  const length = isLengthAlone ? [`"usage":${JSON.stringify({ type: 'duration', seconds: usage.seconds })}`] : [];
  yield eventOf('done', [`"text":${JSON.stringify(text)}`, ...shared, ...length]);
}

function eventOf(word: 'delta' | 'done', fields: readonly string[]): EventText {
  const type = `transcript.text.${word}`;
  return { name: type, text: `{${[`"type":"${type}"`, ...fields].join(',')}}` };
}

function openFold(): StreamFold {
  const fold = openTranscriptionFold();
  return {
    add(text) {
      const event = parseJson(text);
      if (isJsonObject(event)) fold.add(event);
    },
    whole: fold.answer,
  };
}
