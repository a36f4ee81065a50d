// The interface of Amazon Bedrock's Converse, and the count of tokens beside it.

import { frameStreamType, upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { frameOf, readFrames } from '../../event-frames/index.ts';
import {
  type ClientInterface,
  credentialPlaces,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  type RejectionToTell,
} from '../index.ts';
import { openEventReader } from './converse-events.ts';
import { readAnswer } from './read-answer.ts';
import { readConverseRequest } from './read-converse-request.ts';
import { readCount, readCountRequest } from './token-count.ts';

const pathOf = (model: string, operation: string): string => `/model/${encodeURIComponent(model)}/${operation}`;

export const converse: ClientInterface = {
  id: 'converse',
  telemetryOperation: 'chat',
  takesLong: false,
  upstreamPath: ({ model, stream }) => pathOf(model, stream ? 'converse-stream' : 'converse'),
  framing: { contentType: frameStreamType, read: readFrames, write: frameOf },
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  callsFunctions: false,
  credentialPlace: credentialPlaces.aws,
  passedHeaders: [],
  passesQuery: false,
  repairWords,
  readRequest: readConverseRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  answerMaxBytes: () => upstreamBodyMaxBytes,
  readAnswer,
  openEventReader,
  formFields: undefined,
  measureForm: undefined,
  seldomOffered: undefined,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async (of) => (await import('./operation.ts')).operationOf(of),
  playground: async () => (await import('./playground.ts')).playground,
  translation: async () => (await import('./translation/index.ts')).converseSource,
  packageModels: undefined,
  cacheMarks: undefined,
};

/** Same routing, no charge. */
export const converseTokens: ClientInterface = {
  ...converse,
  id: 'converse-tokens',
  telemetryOperation: 'count_tokens',
  upstreamPath: ({ model }) => pathOf(model, 'count-tokens'),
  seldomOffered: 'counts tokens',
  readRequest: readCountRequest,
  readAnswer: readCount,
  operation: async () => (await import('./operation.ts')).countOperation,
  playground: undefined,
};

/** Agents on Bedrock shorten their conversation by these words. */
function repairWords({ providerText, reason }: RejectionToTell): string | undefined {
  if (reason !== 'context_length_exceeded') return undefined;
  const words = 'Input is too long for requested model.';
  if (providerText === undefined) return words;
  return providerText.includes(words) ? providerText : `${words} ${providerText}`;
}
