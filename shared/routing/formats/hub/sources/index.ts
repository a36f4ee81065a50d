// The interfaces of clients whose calls are translated. Another one is a folder beside this file and a line here.
import type { InterfaceId } from '../../../../foundation/constants/index.ts';
import type { HubSource } from '../../../../protocol/hub/index.ts';
import { chatSource } from '../../../../protocol/interfaces/chat-completions/translation/index.ts';
import { messagesSource } from '../../../../protocol/interfaces/messages/translation/index.ts';
import { responsesSource } from '../../../../protocol/interfaces/responses/translation/index.ts';

const sources: Readonly<Partial<Record<InterfaceId, HubSource>>> = {
  'chat-completions': chatSource,
  messages: messagesSource,
  responses: responsesSource,
};

export function sourceOf(interfaceId: InterfaceId): HubSource {
  const source = sources[interfaceId];
  if (source === undefined) throw new Error(`calls of ${interfaceId} are not translated`);
  return source;
}
