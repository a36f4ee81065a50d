// Defines the interface of Google's Gemini, and its count of tokens.
import { largeBodyMaxBytes, upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import type { JsonText, ReadAnswer } from '../../wire/index.ts';
import { pick, toCount } from '../../wire/index.ts';
import {
  type ClientInterface,
  credentialPlaces,
  membersOf,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  type RejectionToTell,
  readAnswerIn,
  readErrorObject,
  zeroUsage,
} from '../index.ts';
import { readCountRequest, readGenerateRequest } from './generate-request.ts';
import { openEventReader, readGenerated } from './read-answer.ts';

/** Returns the path of a model. At Google a name with a slash is already the path of a tuned model. */
const modelPath = (model: string): string =>
  `/${/^(models|tunedModels)\//.test(model) ? model : `models/${encodeURIComponent(model)}`}`;

export const generateContent: ClientInterface = {
  id: 'generate-content',
  telemetryOperation: 'generate_content',
  // The provider always sends events, from which the client's own delivery is made.
  upstreamPath: ({ model, stream }) =>
    `${modelPath(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  gatewayMembers: plainGatewayMembers,
  schemaMember: undefined,
  callsFunctions: false,
  credentialPlace: credentialPlaces.google,
  passedHeaders: [],
  passesQuery: false,
  repairWords,
  readRequest: readGenerateRequest,
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  // Images are inside the answer.
  answerMaxBytes: ({ stream }) => (stream ? upstreamBodyMaxBytes : largeBodyMaxBytes),
  readAnswer: readGenerated,
  openEventReader,
  formFields: undefined,
  measureForm: undefined,
  takesLong: false,
  seldomOffered: undefined,
  grammar: async () => (await import('./grammar.ts')).grammar,
  operation: async (of) => (await import('./operation.ts')).generateOperation(of),
  playground: async () => (await import('./playground.ts')).playground,
  translation: async () => (await import('./translation/index.ts')).generateContentSource,
  packageModels: undefined,
  cacheMarks: undefined,
};

export const countContents: ClientInterface = {
  ...generateContent,
  id: 'count-contents',
  telemetryOperation: 'count_tokens',
  upstreamPath: ({ model }) => `${modelPath(model)}:countTokens`,
  seldomOffered: 'counts tokens',
  readRequest: readCountRequest,
  answerMaxBytes: () => upstreamBodyMaxBytes,
  readAnswer: (text) => readAnswerIn(text, readCount),
  grammar: async () => (await import('./grammar.ts')).grammarOfInput,
  operation: async () => (await import('./operation.ts')).countOperation,
  playground: undefined,
};

const countShape = membersOf({ error: {}, totalTokens: {} });

function readCount(json: JsonText): ReadAnswer {
  const { error, totalTokens } = pick(json, 0, countShape) as Record<string, unknown>;
  if ((error ?? null) !== null) return { kind: 'error', error: readErrorObject(json) };
  if (toCount(totalTokens) === undefined) return { kind: 'unreadable' };
  return { kind: 'answer', answer: { text: json.text, json, usage: zeroUsage, outputBytes: 0 } };
}

/** Matches Google's words for a prompt that is too long, which its clients look for. */
const ownWords = /exceeds the maximum number of tokens/i;

/** Returns the words; undefined for every other rejection. */
function repairWords({ providerText, reason, promptTokens, contextTokens }: RejectionToTell): string | undefined {
  if (reason !== 'context_length_exceeded') return undefined;
  if (providerText !== undefined && ownWords.test(providerText)) return providerText;
  const tokens = Math.max(promptTokens, contextTokens + 1);
  return `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${contextTokens}).`;
}
