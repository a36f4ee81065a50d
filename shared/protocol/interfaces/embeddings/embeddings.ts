// The interface of embeddings: text in, vectors out, no stream.
import { largeBodyMaxBytes } from '../../../foundation/constants/index.ts';
import type { ClientInterface } from '../index.ts';
import { plainGatewayMembers, plainLeftOutOfCacheKey, vendorHeaders } from '../index.ts';
import { readEmbeddingsAnswer } from './embeddings-answer.ts';
import { neverStreamed, readEmbeddingsRequest } from './embeddings-request.ts';

export const embeddings: ClientInterface = {
  id: 'embeddings',
  upstreamPath: '/embeddings',
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  callsFunctions: false,
  acceptsApiKeyHeader: false,
  passedHeaders: vendorHeaders,
  passesQuery: false,
  measuresProviders: true,
  readRequest: readEmbeddingsRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  answerMaxBytes: () => largeBodyMaxBytes,
  readAnswer: readEmbeddingsAnswer,
  openEventReader: neverStreamed,
};
