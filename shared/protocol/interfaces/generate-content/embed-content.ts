// Defines embedContent and batchEmbedContents, which are calls of embeddings with Google's fields, for providers that
// have embeddings.
import { fail, type GatewayError } from '../../../errors/index.ts';
import { headerNames } from '../../../foundation/constants/index.ts';
import {
  type AnswerCost,
  isJsonObject,
  type JsonAnswer,
  type JsonObject,
  type JsonText,
  jsonTextOf,
  parseJson,
  rewriteMembers,
  type WrittenAnswer,
} from '../../wire/index.ts';
import { embeddings } from '../embeddings/index.ts';
import {
  type ClientInterface,
  type ClientRequest,
  credentialPlaces,
  orFault,
  plainGatewayMembers,
  plainLeftOutOfCacheKey,
  type RequestReading,
  refuseDoubles,
  withoutGatewayMembers,
} from '../index.ts';
import { requireOneSpelling } from './spelling.ts';

export const embedContent: ClientInterface = {
  ...embeddings,
  id: 'embed-content',
  credentialPlace: credentialPlaces.google,
  readRequest: (json, reading) => orFault(() => read(json, reading)),
  leftOutOfCacheKey: () => plainLeftOutOfCacheKey,
  grammar: async () => (await import('./grammar.ts')).grammarOfInput,
  operation: async (of) => (await import('./operation.ts')).embedOperation(of),
  playground: undefined,
};

/**
 * Fields that embeddings express in another way, or that only Google's own models have. Any other field is passed on
 * unchanged.
 */
const ownFields: ReadonlySet<string> = new Set([
  ...['model', 'content', 'requests', 'embedContentConfig', 'outputDimensionality', 'taskType', 'title'],
  ...['input', 'dimensions', 'encoding_format'],
]);

interface EmbeddedContent {
  readonly text: string;
  readonly dimensions: number | undefined;
  /** Fields that only Google's own models have. */
  readonly googleFields: Readonly<Record<string, unknown>>;
}

function read(sentText: JsonText, reading: RequestReading): ClientRequest {
  const { path } = reading;
  if (path === undefined) throw new Error('the path of a call of Gemini names no model');
  const json = requireOneSpelling(sentText);
  refuseDoubles(json, plainGatewayMembers);
  const body = parseJson(json.text) as JsonObject;
  const isBatch = path.operation === 'batchEmbedContents';
  const contents = isBatch ? requestsIn(body) : [contentIn(body, '')];
  const [first] = contents;
  if (first === undefined) throw fail('invalid_request', { message: 'requests: is empty', param: 'requests' });
  const other = contents.findIndex(({ dimensions }) => dimensions !== first.dimensions);
  if (other >= 0) {
    const param = `requests[${other}].outputDimensionality`;
    throw fail('invalid_request', { message: `${param}: must be the same in all requests`, param });
  }
  // One call has one task. If the tasks differ, no task is sent.
  const [google, ...others] = new Set(contents.map(({ googleFields }) => JSON.stringify(googleFields)));
  const isOneTask = google !== undefined && others.length === 0;
  const googleFields = [...new Set(contents.flatMap((content) => Object.keys(content.googleFields)))];
  const otherFields = Object.entries(body).filter(([name]) => !ownFields.has(name));
  const asEmbeddings = jsonTextOf({
    model: path.model.replace(/^models\//, ''),
    ...Object.fromEntries(otherFields),
    input: contents.map(({ text }) => text),
    ...(first.dimensions === undefined ? {} : { dimensions: first.dimensions }),
    encoding_format: 'float',
    ...(isOneTask ? first.googleFields : {}),
  });
  const request = embeddings.readRequest(asEmbeddings, reading);
  if (!('upstreamBody' in request)) throw inTheirWords(request);
  return {
    ...request,
    interfaceId: 'embed-content',
    text: () => json,
    path,
    promptMember: isBatch ? 'requests' : 'content',
    leftOut: isOneTask ? [] : googleFields,
    upstreamBody: ({ model }) => ({
      text: rewriteMembers(
        asEmbeddings,
        new Map<string, unknown>([
          ...withoutGatewayMembers,
          ['model', model],
          ...googleFields.map((name) => [name, undefined] as const),
        ]),
      ),
      leftOut: isOneTask ? googleFields : [],
    }),
    writeAnswer: (answer, cost) => write(answer, cost, isBatch),
  };
}

/** Returns the fault with the client's name of the field; only embeddings call it `input`. */
const inTheirWords = (fault: GatewayError): GatewayError =>
  fault.param?.startsWith('input') === true
    ? fail('invalid_request', { message: fault.message, param: 'requests' })
    : fault;

function requestsIn({ requests }: JsonObject): EmbeddedContent[] {
  if (!Array.isArray(requests))
    throw fail('invalid_request', { message: 'requests: must be a list', param: 'requests' });
  return requests.map((one, at) => contentIn(isJsonObject(one) ? one : {}, `requests[${at}].`));
}

/** Returns the content; fields of `embedContentConfig` may be next to `embedContentConfig` too. */
function contentIn(request: JsonObject, path: string): EmbeddedContent {
  const { content, embedContentConfig } = request;
  const config = isJsonObject(embedContentConfig) ? embedContentConfig : {};
  const parts = isJsonObject(content) ? content.parts : undefined;
  const texts = (Array.isArray(parts) ? parts : []).map((part, at) => {
    if (isJsonObject(part) && typeof part.text === 'string') return part.text;
    const param = `${path}content.parts[${at}]`;
    throw fail('feature_unsupported', { message: `${param}: only texts are embedded`, param });
  });
  if (texts.length === 0) {
    const param = `${path}content`;
    throw fail('invalid_request', { message: `${param}: must have parts with texts`, param });
  }
  const dimensions = request.outputDimensionality ?? config.outputDimensionality ?? undefined;
  if (dimensions !== undefined && !(typeof dimensions === 'number' && Number.isInteger(dimensions) && dimensions > 0)) {
    const param = `${path}outputDimensionality`;
    throw fail('invalid_request', { message: `${param}: must be a positive whole number`, param });
  }
  const googleFields = Object.fromEntries(
    ['taskType', 'title']
      .map((name) => [name, request[name] ?? config[name] ?? ''] as const)
      .filter(([, value]) => value !== ''),
  );
  return { text: texts.join('\n'), dimensions, googleFields };
}

function write(answer: JsonAnswer, { costUsd }: AnswerCost, isBatch: boolean): WrittenAnswer {
  const { values } = answer as JsonAnswer & { readonly values: readonly string[] };
  const vectors = values.map((value) => `{"values":[${value}]}`);
  const promptTokenCount = answer.usage?.tokens.input;
  const usage = JSON.stringify({ ...(promptTokenCount === undefined ? {} : { promptTokenCount }), cost_usd: costUsd });
  const body = isBatch ? `"embeddings":[${vectors.join(',')}]` : `"embedding":${vectors[0] ?? '{"values":[]}'}`;
  return { body: `{${body},"usageMetadata":${usage}}`, headers: { [headerNames.cost]: costUsd } };
}
