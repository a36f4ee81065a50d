// Counts of the tokens of a prompt: a provider's, and the gateway's estimate where the provider of the model cannot count.
import * as z from 'zod/mini';
import type { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
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
  type ClientRequest,
  estimateCount,
  hubMembers,
  membersOf,
  nothingUsed,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  plainMembers,
  type RequestReading,
  readErrorObject,
  readInTurns,
  readPlainBody,
  sizeOfCount,
  withCostHeader,
  withoutGatewayMembers,
} from '../index.ts';
import { filesInBuckets, mediaOf } from './converse-media.ts';
import { callSizeOf, toolTokensOf } from './converse-size.ts';
import { conversationShapes, modelsOf } from './read-converse-request.ts';

const { model: _inPath, ...gatewayMembers } = plainMembers;

/** Either a conversation, or the body of an invocation as base64. */
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

export const readCountRequest = (json: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  orFault(() => read(json, reading));

const inside = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

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
    answerItself: async (nextStep) => {
      const { body: invoked } = inside(invokeModel);
      const text = typeof invoked === 'string' ? Buffer.from(invoked, 'base64').toString('utf8') : json.text;
      const prompt = { text, media: media(), toolTokens: toolTokensOf(conversation) };
      return estimateCount(prompt, {}, nextStep, 'inputTokens');
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

const countShape = membersOf({ inputTokens: {}, message: {}, __type: {} });
export const readCount = async (text: string): Promise<ReadAnswer> =>
  (await readInTurns(text, readDetails)) ?? { kind: 'unreadable' };

async function readDetails(json: JsonText): Promise<ReadAnswer> {
  const { inputTokens, message } = pick(json, 0, countShape) as JsonObject;
  if (typeof inputTokens === 'number')
    return { kind: 'answer', answer: { text: json.text, json, usage: nothingUsed, outputBytes: 0 } };
  return (message ?? null) === null ? { kind: 'unreadable' } : { kind: 'error', error: readErrorObject(json) };
}
