// Parses the events of a stream whose events are JSON objects with a `type`, because nearly all of these events are
// short.

import type { AnswerEvent, EventDetails } from '../wire/index.ts';
import { isJsonObject, type JsonObject, pick, type Shape } from '../wire/index.ts';
import { answerJson, scanAnswer, shortEventCharacters } from './answer-json.ts';

/**
 * Returns undefined for a text that is not a JSON object, or exceeds the bounds of an answer. `longShape` is the fields
 * of a long event that are parsed.
 */
export function parseEvent(text: string, longShape?: Shape): JsonObject | undefined {
  if (text.length > shortEventCharacters) {
    const json = scanAnswer(text);
    if (json === undefined) return undefined;
    if (longShape !== undefined) return pick(json, 0, longShape) as JsonObject;
  }
  try {
    const event: unknown = JSON.parse(text);
    return isJsonObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the end marker that a server writes although its interface has none. */
export const endMarkerEvent = (name: string | undefined, text: string): AnswerEvent =>
  new ParsedEvent(name, text, {
    hasOutput: false,
    isLast: true,
    isEndMarker: true,
    usage: undefined,
    outputBytes: 0,
  });

/** A parsed event. It is a class, because it costs less to make than an object with a getter. */
export class ParsedEvent<Details extends EventDetails = EventDetails> implements AnswerEvent {
  readonly name: string | undefined;
  readonly text: string;
  readonly details: Details;

  constructor(name: string | undefined, text: string, details: Details) {
    this.name = name;
    this.text = text;
    this.details = details;
  }

  /** The text is scanned again each time, because few clients need the value. */
  get json() {
    return answerJson(this.text);
  }
}
