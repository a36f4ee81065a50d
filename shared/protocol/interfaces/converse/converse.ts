// Defines the interface of Amazon Bedrock's Converse, and its count of tokens.

import * as z from 'zod/mini';
import type { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { frameStreamType, upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { frameOf, readFrames } from '../../event-frames/index.ts';
import {
  isJsonObject,
  type JsonObject,
  type JsonText,
  pick,
  type ReadAnswer,
  readProviderPreferences,
  rewriteMembers,
} from '../../wire/index.ts';
import {
  type ClientInterface,
  type ClientRequest,
  credentialPlaces,
  estimateCount,
  hubMembers,
  membersOf,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  plainMembers,
  type RejectionToTell,
  type RequestReading,
  readAnswerIn,
  readErrorObject,
  readPlainBody,
  sizeOfCount,
  withCostHeader,
  withoutGatewayMembers,
  zeroUsage,
} from '../index.ts';
import { openEventReader } from './converse-events.ts';
import { filesInBuckets, mediaOf } from './converse-media.ts';
import { callSizeOf, toolTokensOf } from './converse-size.ts';
import { readAnswer } from './read-answer.ts';
import { conversationShapes, modelsOf, readConverseRequest } from './read-converse-request.ts';

const { model: _inPath, ...gatewayMembers } = plainMembers;

/** Schema of a count, whose body is a conversation, or the body of an invocation as base64. */
const countSchema = z.looseObject({
  ...gatewayMembers,
  input: z.union([
    z.looseObject({ converse: z.looseObject({ messages: z.array(z.unknown()) }) }),
    z.looseObject({ invokeModel: z.looseObject({ body: z.string() }) }),
  ]),
});

const names = [...new Set([...Object.keys(countSchema.shape), ...plainGatewayMembers])];
const plainReading = {
  schema: countSchema,
  reading: {
    names: new Set(names),
    shapes: {
      input: membersOf({ converse: membersOf(conversationShapes), invokeModel: membersOf({ body: {} }) }),
    },
    indivisible: plainGatewayMembers,
  },
  refuseOtherCase: otherCaseCheck(names),
};

const readCountRequest = (json: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  orFault(() => read(json, reading));

const inside = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

const countShape = membersOf({ inputTokens: {}, message: {}, __type: {} });
const readCount = (text: string): Promise<ReadAnswer> => readAnswerIn(text, readDetails);

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

/** The count of tokens, with the same routing and without a charge. */
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

/** Returns the words by which agents on Bedrock shorten their conversation. */
function repairWords({ providerText, reason }: RejectionToTell): string | undefined {
  if (reason !== 'context_length_exceeded') return undefined;
  const words = 'Input is too long for requested model.';
  if (providerText === undefined) return words;
  return providerText.includes(words) ? providerText : `${words} ${providerText}`;
}

// Counts the tokens of a prompt. The count comes from the provider, or from the gateway's estimate if the model's
// provider cannot count.

function read(json: JsonText, { path }: RequestReading): ClientRequest {
  const { raw, body } = readPlainBody(json, plainReading);
  const { converse, invokeModel } = inside(raw.input);
  const conversation = inside(converse);
  const media = once(() => mediaOf(conversation.messages));
  const members = {
    interfaceId: 'converse-tokens' as const,
    path,
    namesModelsOf: 'bedrock' as const,
    raw,
    text: () => json,
    ...modelsOf(path, body.models),
    stream: false,
    maxOutputTokens: 0,
    isOutputOpen: false,
    provider: readProviderPreferences(body.provider ?? {}),
    cache: body.cache ?? undefined,
    preset: undefined,
    responseSchema: undefined,
    providerState: filesInBuckets(conversation.messages),
    answerIs: 'unnamed' as const,
    promptMember: 'input',
    outputBoundMember: undefined,
    user: undefined,
  };
  const size = once(() => sizeOfCount(callSizeOf({ ...members, raw: conversation }, media())));
  return {
    ...members,
    answerItself() {
      const { body: invoked } = inside(invokeModel);
      const text = typeof invoked === 'string' ? Buffer.from(invoked, 'base64').toString('utf8') : json.text;
      const prompt = { text, media: media(), toolTokens: toolTokensOf(conversation) };
      return estimateCount(prompt, {}, 'inputTokens');
    },
    needs: () => ({ features: [], schemaMember: undefined, storingMember: undefined, promptBytes: 0 }),
    size,
    ...hubMembers(() => json),
    upstreamBody: () => ({ text: rewriteMembers(json, new Map(withoutGatewayMembers)), leftOut: [] }),
    schemaCheck: undefined,
    writeAnswer: withCostHeader,
    openStreamWriter: neverStreamed,
  };
}

function neverStreamed(): never {
  throw new Error('a count has no streams');
}

function readDetails(json: JsonText): ReadAnswer {
  const { inputTokens, message } = pick(json, 0, countShape) as JsonObject;
  if (typeof inputTokens === 'number')
    return { kind: 'answer', answer: { text: json.text, json, usage: zeroUsage, outputBytes: 0 } };
  return (message ?? null) === null ? { kind: 'unreadable' } : { kind: 'error', error: readErrorObject(json) };
}
