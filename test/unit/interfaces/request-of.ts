// Reads a request as its interface does.
import { GatewayError } from '../../../shared/errors/index.ts';
import type { ClientInterface, ClientRequest } from '../../../shared/protocol/interfaces/index.ts';
import { jsonTextOf } from '../../../shared/protocol/wire/index.ts';

const messages = [{ role: 'user', content: 'Hi.' }];
/** The smallest request of each interface. */
const leastOf: Readonly<Record<string, object>> = {
  'chat-completions': { messages },
  messages: { messages, max_tokens: 9 },
  responses: { input: 'Hi.' },
  embeddings: { input: 'Hi.' },
};

export function requestOf(clientInterface: ClientInterface, members: object, betas?: string): ClientRequest {
  const body = jsonTextOf({ model: 'm', ...leastOf[clientInterface.id], ...members });
  const request = clientInterface.readRequest(body, { bodyBytes: 9, dropsUnusedFields: false, betas });
  if (request instanceof GatewayError) throw request;
  return request;
}
