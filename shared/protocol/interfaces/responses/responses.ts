// The interface of OpenAI's Responses, and what is asked beside it with the same input.
import { upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import {
  answerMaxBytes,
  type ClientInterface,
  credentialPlaces,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  readTokenCount,
  vendorHeaders,
} from '../index.ts';
import { readCompactRequest, readInputTokensRequest } from './input-requests.ts';
import { readResponse } from './response-answer.ts';
import { openResponseReader } from './response-events.ts';
import { readResponsesRequest } from './responses-request.ts';

export const responses: ClientInterface = {
  id: 'responses',
  telemetryOperation: 'chat',
  upstreamPath: () => '/responses',
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  takesLong: false,
  callsFunctions: false,
  credentialPlace: credentialPlaces.bearer,
  passedHeaders: vendorHeaders,
  passesQuery: true,
  readRequest: readResponsesRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  answerMaxBytes,
  readAnswer: readResponse,
  openEventReader: openResponseReader,
  formFields: undefined,
  measureForm: undefined,
  seldomOffered: undefined,
  repairWords: undefined,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async () => (await import('./operation.ts')).operation,
  playground: async () => (await import('./playground.ts')).playground,
  translation: async () => (await import('./translation/index.ts')).responsesSource,
  packageModels: undefined,
  cacheMarks: undefined,
};

/** Same routing, no charge. */
export const inputTokens: ClientInterface = {
  ...responses,
  id: 'input-tokens',
  telemetryOperation: 'count_tokens',
  upstreamPath: () => '/responses/input_tokens',
  seldomOffered: 'counts tokens',
  readRequest: readInputTokensRequest,
  answerMaxBytes: () => upstreamBodyMaxBytes,
  readAnswer: readTokenCount,
  operation: async () => (await import('./operation.ts')).countOperation,
  playground: undefined,
};

/** A call of the model, with a bill like that of a response. */
export const compact: ClientInterface = {
  ...responses,
  id: 'compact',
  upstreamPath: () => '/responses/compact',
  seldomOffered: 'compacts conversations',
  readRequest: readCompactRequest,
  operation: async () => (await import('./operation.ts')).compactOperation,
  playground: undefined,
};
