// Defines the interface of OpenAI's Responses, and its further requests with the same input.

import { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { upstreamBodyMaxBytes } from '../../../foundation/constants/index.ts';
import { findMember, type JsonText, pick, type ReadAnswer, rewriteMembers } from '../../wire/index.ts';
import {
  answerMaxBytes,
  type ClientInterface,
  type ClientRequest,
  claudeToolTokens,
  credentialPlaces,
  estimateCount,
  membersOf,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  type RequestReading,
  readAnswerIn,
  readErrorObject,
  readTokenCount,
  readUsageMember,
  sizeOfCount,
  sumOfMedia,
  textBytesIn,
  vendorHeaders,
  withoutGatewayMembers,
} from '../index.ts';
import { withoutOwnItems } from './own-items.ts';
import { brokenEnd, idsOf, itemShape, openResponseReader, readResponseUsage } from './response-events.ts';
import { asksForJson, mediaIn, toolsOf } from './response-size.ts';
import type { ResponsesBody } from './responses-body.ts';
import { readResponsesRequest } from './responses-request.ts';

const factsShape = membersOf({
  id: {},
  store: {},
  object: {},
  model: {},
  status: {},
  incomplete_details: membersOf({ reason: {} }),
  error: membersOf({ code: {}, type: {}, message: {}, param: {} }),
});

const itemsShape = { items: itemShape };

const readResponse = (text: string): Promise<ReadAnswer> => readAnswerIn(text, readDetails, readResponseUsage);

/** Names of fields without text of the model. */
const structuralNames: ReadonlySet<string> = new Set([
  'type',
  'id',
  'call_id',
  'role',
  'status',
  'encrypted_content',
  'annotations',
  'logprobs',
]);

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

/** The count of input tokens, with the same routing and without a charge. */
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

/** Compaction, which is a call of the model, with a bill like the bill of a response. */
export const compact: ClientInterface = {
  ...responses,
  id: 'compact',
  upstreamPath: () => '/responses/compact',
  seldomOffered: 'compacts conversations',
  readRequest: readCompactRequest,
  operation: async () => (await import('./operation.ts')).compactOperation,
  playground: undefined,
};

// Reads a provider's response from JSON. The reader is lenient, because an object with a list as output is a response.
function readDetails(json: JsonText): ReadAnswer {
  const details = pick(json, 0, factsShape) as Record<string, unknown>;
  const { object, model, status, error } = details;
  if ((error ?? null) !== null) return { kind: 'error', error: { error } };
  const brokenEnding = brokenEnd(details);
  if (brokenEnding !== undefined) return { kind: 'error', error: brokenEnding };
  if (object === 'error') return { kind: 'error', error: readErrorObject(json) };
  const output = findMember(json, 'output');
  if (output === undefined || !json.isArray(output)) return { kind: 'unreadable' };
  const outputBytes = textBytesIn(json, output, structuralNames);
  return {
    kind: 'answer',
    answer: {
      text: json.text,
      json,
      usage: readResponseUsage(readUsageMember(json)),
      outputBytes,
      model: typeof model === 'string' ? model : undefined,
      finishReasons: typeof status === 'string' ? [status] : undefined,
      ...idsOf(details, pick(json, output, itemsShape) as unknown[]),
    },
  };
}

// Defines requests with the input of a response but without a response, which are a count of its tokens, and a shorter
// version of it.

/** Reads the input. Such a request is never a stream, and its answer has nothing that later calls may name. */
function readInput(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readResponsesRequest(json, reading);
  if (request instanceof GatewayError) return request;
  return {
    ...request,
    stream: false,
    answerIs: 'unnamed',
    outputBoundMember: undefined,
    // No field is added that only a response has, because providers refuse it.
    upstreamBody({ model }) {
      const rewrite = withoutOwnItems(json);
      const changes = new Map<string, unknown>([...withoutGatewayMembers, ['model', model], ...rewrite.changes]);
      return { text: rewriteMembers(json, changes, 0, rewrite.replaced), leftOut: rewrite.leftOut };
    },
    refusedStream: undefined,
  };
}

function readInputTokensRequest(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readInput(json, reading);
  if (request instanceof GatewayError) return request;
  const body = request.raw as ResponsesBody;
  // The media are measured together with the size, because the media of a long body are dropped then.
  const media = once(() => sumOfMedia(mediaIn(body)));
  const toolTokens = () => claudeToolTokens(toolsOf(body), asksForJson(body.text));
  return {
    ...request,
    interfaceId: 'input-tokens',
    isOutputOpen: false,
    needs: once(() => ({ ...request.needs(), storingMember: undefined })),
    size: once(() => {
      media();
      return sizeOfCount(request.size());
    }),
    answerItself: () =>
      estimateCount({ text: json.text, media: media(), toolTokens: toolTokens() }, { object: 'response.input_tokens' }),
    writeAnswer: ({ text }) => ({ body: text, headers: {} }),
  };
}

function readCompactRequest(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readInput(json, reading);
  if (request instanceof GatewayError) return request;
  return {
    ...request,
    interfaceId: 'compact',
    isOutputOpen: true,
    // The request has no field that bounds the output.
    size: once(() => ({ ...request.size(), maxOutputTokens: undefined, isOutputOpen: true, namesNoBound: false })),
    hubNeeds: () => [{ kind: 'compaction', member: 'input' }, ...request.hubNeeds()],
  };
}
