// The interface of OpenAI's Responses.
import {
  answerMaxBytes,
  type ClientInterface,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  vendorHeaders,
} from '../index.ts';
import { readResponse } from './response-answer.ts';
import { openResponseReader } from './response-events.ts';
import { readResponsesRequest } from './responses-request.ts';

export const responses: ClientInterface = {
  id: 'responses',
  upstreamPath: '/responses',
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  callsFunctions: false,
  acceptsApiKeyHeader: false,
  passedHeaders: vendorHeaders,
  passesQuery: true,
  measuresProviders: true,
  readRequest: readResponsesRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  answerMaxBytes,
  readAnswer: readResponse,
  openEventReader: openResponseReader,
};
