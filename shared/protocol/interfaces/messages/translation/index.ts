// Anthropic's Messages as a source: a client of this interface on a model of any format.

import { createToolNames, eventsByPart, type HubSource } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenEvent } from '../message-events.ts';
import { foldMessage } from './fold-message.ts';
import { toHubCall } from './message-call.ts';
import { openMessageEvents } from './write-message-events.ts';

export const messagesSource: HubSource = async (body, nextStep, { open }) => {
  const names = createToolNames();
  return {
    call: await toHubCall(body, { names, nextStep, open }),
    writesOneCallAtATime: true,
    openWriter: (head) =>
      eventsByPart<AnswerEvent>((add) =>
        openMessageEvents(head, names, (event, used) => add(writtenEvent(event, used?.report))),
      ),
    openFold(head) {
      const { add, answer } = foldMessage();
      const write = eventsByPart<object>((give) =>
        openMessageEvents(head, names, (event, used) => {
          add(event, used);
          give(event);
        }),
      );
      return { write, answer };
    },
  };
};
