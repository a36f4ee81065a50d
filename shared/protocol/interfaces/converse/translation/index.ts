// Translates Bedrock's Converse, so that a client of this interface can use a model of any format.

import { createToolNames, eventsByPart, type HubSource, type SourceCall, type ToolNames } from '../../../hub/index.ts';
import type { AnswerEvent, JsonObject } from '../../../wire/index.ts';
import { writtenEvent } from '../converse-events.ts';
import { openHubCall } from './converse-call.ts';
import { foldAnswer } from './fold-answer.ts';
import { openConverseEvents } from './write-events.ts';

export const converseSource: HubSource = (body, { open }) => {
  const names = createToolNames();
  const { read, end } = openHubCall(body, names, open);
  return { conversation: body.messages, read, end: () => ({ call: end(), ...writersWith(body, names) }) };
};

function writersWith(
  { additionalModelResponseFieldPaths: paths }: JsonObject,
  names: ToolNames,
): Omit<SourceCall, 'call'> {
  return {
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
}
