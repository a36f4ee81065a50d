// The interface of chat completions, the one with presets, schemas of answers and stored functions.
import { answerMaxBytes, type ClientInterface, namesFunction } from '../index.ts';
import { openChunkReader } from './chunk-reader.ts';
import { gatewayMembers, leftOutOfCacheKey } from './gateway-members.ts';
import { readJsonAnswer } from './provider-answer.ts';
import { readChatRequest } from './read-chat-request.ts';
import { readFunctionRequest } from './read-function-request.ts';

export const chatCompletions: ClientInterface = {
  id: 'chat-completions',
  upstreamPath: '/chat/completions',
  gatewayMembers,
  schemaMember: 'response_format',
  callsFunctions: true,
  acceptsApiKeyHeader: false,
  passedHeaders: [],
  passesQuery: false,
  measuresProviders: true,
  routeRules: {},
  readRequest: (body, reading) => (namesFunction(body) ? readFunctionRequest(body, reading) : readChatRequest(body)),
  leftOutOfCacheKey,
  answerMaxBytes,
  readAnswer: readJsonAnswer,
  openEventReader: openChunkReader,
};
