// Anthropic's Messages as a source: a client of this interface on a model of any format.
import { createToolNames, type HubSource } from '../../middle/index.ts';
import { toHubCall } from './message-call.ts';
import { openMessageWriter } from './write-message-events.ts';
import { writeMessage } from './write-whole-message.ts';

export const messagesSource: HubSource = async (body, nextStep, { open }) => {
  const names = createToolNames();
  return {
    call: await toHubCall(body, { names, nextStep, open }),
    writeAnswer: (result, head) => writeMessage(result, head, names, nextStep),
    writesOneCallAtATime: true,
    openWriter: (head) => openMessageWriter(head, names),
  };
};
