// Anthropic's Messages as a source: a client of this interface on a model of any format.
import { createToolNames, type HubSource } from '../../middle/index.ts';
import { toHubCall } from './message-call.ts';
import { openMessageWriter } from './write-message-events.ts';
import { writeMessage } from './write-whole-message.ts';

export const messagesSource: HubSource = (body) => {
  const names = createToolNames();
  return {
    call: toHubCall(body, names),
    writeAnswer: (result, head) => writeMessage(result, head, names),
    openWriter: (head) => openMessageWriter(head, names),
  };
};
