// The interface of Anthropic's Messages, and the count of tokens beside it.
import { headerNames } from '../../../foundation/constants/index.ts';
import type { ClientInterface } from '../index.ts';
import { openEventReader } from './message-events.ts';
import { gatewayMembers } from './messages-request.ts';
import { readMessage, readTokenCount } from './read-message.ts';
import { readCountRequest, readMessagesRequest } from './read-messages-request.ts';

const leftOutOfCacheKey: ReadonlySet<string> = new Set(['model', ...gatewayMembers]);

export const messages: ClientInterface = {
  id: 'messages',
  upstreamPath: '/messages',
  gatewayMembers,
  schemaMember: undefined,
  callsFunctions: false,
  acceptsApiKeyHeader: true,
  passedHeaders: ['anthropic-version', 'anthropic-beta'],
  passesQuery: true,
  measuresProviders: true,
  pathConventions: {
    errorFormat: 'messages',
    foreignSessionId: headerNames.messagesSessionId,
    requestIdHeader: headerNames.messagesRequestId,
  },
  readRequest: readMessagesRequest,
  leftOutOfCacheKey: () => leftOutOfCacheKey,
  readAnswer: readMessage,
  openEventReader,
};

/** Same routing, no charge. Never the answer of a message under the same Idempotency-Key, so it has a name of its own. */
export const countTokens: ClientInterface = {
  ...messages,
  id: 'count-tokens',
  upstreamPath: '/messages/count_tokens',
  // Many servers of Messages count none.
  measuresProviders: false,
  readRequest: readCountRequest,
  readAnswer: readTokenCount,
};
