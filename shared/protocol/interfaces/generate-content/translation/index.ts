// Gemini's interface as a source: its clients on a model of any format.
import { createToolNames, eventsByPart, type HubSource } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenEvent } from '../read-answer.ts';
import { toHubCall } from './call.ts';
import { foldAnswer } from './fold-answer.ts';
import { openChunks } from './write-chunks.ts';

export const generateContentSource: HubSource = async (body, nextStep, { open }) => {
  const names = createToolNames();
  return {
    call: await toHubCall(body, { names, nextStep, open }),
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
};
