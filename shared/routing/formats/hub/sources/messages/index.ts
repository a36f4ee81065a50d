// Anthropic's Messages as a source: a client of this interface on a model of any format.
import type { AnswerEvent } from '../../../../../protocol/interfaces/index.ts';
import { writtenEvent } from '../../../../../protocol/interfaces/messages/index.ts';
import { createToolNames, eventsByPart, type HubSource, writeResult } from '../../middle/index.ts';
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
    async writeAnswer(result, head) {
      const { add, answer } = foldMessage();
      await writeResult(result, openMessageEvents(head, names, add), nextStep);
      return answer(nextStep);
    },
  };
};
