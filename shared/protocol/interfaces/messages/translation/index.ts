// Translates Anthropic's Messages, so that a client of this interface can use a model of any format.

import { createToolNames, eventsByPart, type HubSource, type SourceCall, type ToolNames } from '../../../hub/index.ts';
import type { AnswerEvent } from '../../../wire/index.ts';
import { writtenEvent } from '../message-events.ts';
import { foldMessage } from './fold-message.ts';
import { openHubCall } from './message-call.ts';
import { openMessageEvents } from './write-message-events.ts';

export const messagesSource: HubSource = (body, { open }) => {
  const names = createToolNames();
  const { read, end } = openHubCall(body, names, open);
  return { conversation: body.messages, read, end: () => ({ call: end(), ...writersWith(names) }) };
};

function writersWith(names: ToolNames): Omit<SourceCall, 'call'> {
  return {
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
}
