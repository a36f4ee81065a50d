// Translates Gemini's interface, so that its clients can use a model of any format.
import { createToolNames, eventsByPart, type HubSource, type SourceCall, type ToolNames } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenEvent } from '../read-answer.ts';
import { openHubCall } from './call.ts';
import { foldAnswer } from './fold-answer.ts';
import { openChunks } from './write-chunks.ts';

export const generateContentSource: HubSource = (body, { open }) => {
  const names = createToolNames();
  const { read, end } = openHubCall(body, names, open);
  return { conversation: body.contents, read, end: () => ({ call: end(), ...writersWith(names) }) };
};

function writersWith(names: ToolNames): Omit<SourceCall, 'call'> {
  return {
    openWriter: (head) =>
      eventsByPart<AnswerEvent>((add) =>
        openChunks(head, names, (chunk, written) => add(writtenEvent(chunk, written?.report, written !== undefined))),
      ),
    openFold(head) {
      const { add, answer } = foldAnswer();
      const write = eventsByPart<object>((give) =>
        openChunks(head, names, (chunk, written) => {
          add(chunk, written);
          give(chunk);
        }),
      );
      return { write, answer };
    },
  };
}
