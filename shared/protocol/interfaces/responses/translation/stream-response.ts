// Writes the events of a response for a client that streams. The events are numbered, and stand between the events of
// the response itself.
import type { AnswerEvent } from '../../../wire/index.ts';
import { type EventToWrite, writtenEvent } from '../response-events.ts';
import { ownResponseId } from '../response-opening.ts';
import { type ResponseContext, responseText, toReport } from './response-object.ts';
import type { ResponseSink } from './write-response-events.ts';

const isItemEvent = (type: string): boolean => type.startsWith('response.output_item.');
/**
 * Text of a reasoning item's type. Text of a model is never mistaken for the type, because inside a string a backslash
 * precedes each quotation mark.
 */
const reasoningItem = '"type":"reasoning"';

export function streamResponse(writing: ResponseContext, give: (event: AnswerEvent) => void): ResponseSink {
  const responseId = ownResponseId(writing.head.id);
  let sequenceNumber = 0;
  let outputBytes = 0;
  /** Complete items, each as JSON text. */
  const items: string[] = [];

  function add(type: string, text: string, modelText: string, end?: EventToWrite['end']): void {
    const bytes = Buffer.byteLength(modelText);
    outputBytes += bytes;
    const isOnlyThinking = type.startsWith('response.reasoning') || (isItemEvent(type) && text.includes(reasoningItem));
    const details = { type, sequenceNumber, responseId, outputBytes: bytes, isOnlyThinking, ...(end && { end }) };
    give(writtenEvent(text, details));
    sequenceNumber += 1;
  }

  const opening = (type: string, members: object): string =>
    JSON.stringify({ type, sequence_number: sequenceNumber, ...members }).slice(0, -1);

  /** Adds an event of the response itself. `response` is its JSON text. */
  const addStage = (type: string, response: string, end?: EventToWrite['end']): void =>
    add(type, `${opening(type, {})},"response":${response}}`, '', end);

  function start(): void {
    if (sequenceNumber > 0) return;
    const response = responseText(writing);
    addStage('response.created', response);
    addStage('response.in_progress', response);
  }

  return {
    emit(type, members, { modelText = '', item } = {}) {
      start();
      const text = item === undefined ? undefined : JSON.stringify(item);
      if (text !== undefined) items.push(text);
      add(type, `${opening(type, members)}${text === undefined ? '' : `,"item":${text}`}}`, modelText);
    },
    end(end, tokens, model) {
      start();
      const output = { items, tokens, outputBytes };
      const report = { usage: toReport(writing.head, output), model, status: end.status };
      addStage(`response.${end.status}`, responseText(writing, end, output), report);
    },
  };
}
