// The interface of Anthropic's Messages, and the count of tokens beside it.
import { headerNames, upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { type ClientInterface, plainGatewayMembers, plainLeftOutOfCacheKey, vendorHeaders } from '../index.ts';
import { openEventReader } from './message-events.ts';
import { readMessage, readTokenCount } from './read-message.ts';
import { readCountRequest, readMessagesRequest } from './read-messages-request.ts';
import { repairWords } from './repair-words.ts';

export const messages: ClientInterface = {
  id: 'messages',
  upstreamPath: '/messages',
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  callsFunctions: false,
  acceptsApiKeyHeader: true,
  passedHeaders: vendorHeaders,
  passesQuery: true,
  measuresProviders: true,
  repairWords,
  routeRules: {
    errorFormat: 'messages',
    foreignSessionId: headerNames.messagesSessionId,
    requestIdHeader: headerNames.messagesRequestId,
  },
  readRequest: readMessagesRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  answerMaxBytes: () => upstreamBodyMaxBytes,
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
  answerMaxBytes: () => upstreamBodyMaxBytes,
  readAnswer: readTokenCount,
};
