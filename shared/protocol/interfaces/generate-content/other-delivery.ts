// Converts a whole answer to the chunks of its stream, and chunks to an answer. One chunk may have all content.
import { type EventText, isJsonObject, type JsonAnswer, parseJson } from '../../wire/index.ts';
import type { OtherDelivery, StreamFold } from '../index.ts';
import { openGeneratedFold } from './stream-fold.ts';

export const otherDelivery: OtherDelivery = { toEvents: eventsOf, openFold };

function* eventsOf({ text }: JsonAnswer): Generator<EventText> {
  yield { text };
}

function openFold(): StreamFold {
  const fold = openGeneratedFold();
  return {
    add(text) {
      const chunk = parseJson(text);
      if (isJsonObject(chunk)) fold.add(chunk);
    },
    whole: fold.answer,
  };
}
