// Bedrock's Converse as a source: a client of this interface on a model of any format.

import { createToolNames, eventsByPart, type HubSource } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenEvent } from '../converse-events.ts';
import { toHubCall } from './converse-call.ts';
import { foldAnswer } from './fold-answer.ts';
import { openConverseEvents } from './write-events.ts';

export const converseSource: HubSource = async (body, nextStep, { open }) => {
  const names = createToolNames();
  const { additionalModelResponseFieldPaths: paths } = body;
  return {
    call: await toHubCall(body, { names, nextStep, open }),
    writesOneCallAtATime: true,
    openWriter: (head) =>
      eventsByPart<AnswerEvent>((add) =>
        openConverseEvents(head, { names, paths }, (name, event, used) => add(writtenEvent(name, event, used?.report))),
      ),
    openFold(head) {
      const { add, answer } = foldAnswer();
      const write = eventsByPart<object>((give) =>
        openConverseEvents(head, { names, paths }, (name, event, used) => {
          add(event, used);
          give({ ...event, name });
        }),
      );
      return { write, answer };
    },
  };
};
