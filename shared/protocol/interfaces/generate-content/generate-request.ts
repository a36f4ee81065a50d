// Reads a request of generateContent, streamGenerateContent or countTokens. The reader is strict in the fields that the
// gateway reads, and indifferent to the rest.
import * as z from 'zod/mini';
import { fail, type GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { bodyDepthMax, headerNames } from '../../../foundation/constants/index.ts';
import {
  type AnswerCost,
  type CallSize,
  findMember,
  isJsonObject,
  type JsonAnswer,
  type JsonObject,
  type JsonText,
  listOf,
  parseJson,
  readProviderPreferences,
  rewriteMembers,
  type StateReference,
  scanJson,
  toCount,
  type UpstreamTarget,
  type WrittenAnswer,
} from '../../wire/index.ts';
import {
  boundedByContext,
  bringsInput,
  type CallPath,
  type ClientRequest,
  claudeToolTokens,
  estimateCount,
  hubMembers,
  isStorageUrl,
  type Media,
  membersOf,
  openImageMeasure,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  plainMembers,
  providerStateIn,
  type RelayedChanges,
  type RequestReading,
  readModels,
  readPlainBody,
  sizeOfCount,
  sumOfMedia,
  withDefaultBound,
  withoutGatewayMembers,
} from '../index.ts';
import { withoutForeignThinking } from './foreign-signatures.ts';
import { readHubNeeds, readNeeds } from './needs.ts';
import { contentsOf, fileOf, functionsOf, generationConfigOf, inlineDataOf, partsOf } from './parts.ts';
import { requireOneSpelling } from './spelling.ts';
import { listForm, openEventWriter, openListWriter } from './write-stream.ts';

/** Maximum number of candidates, the same as of `n` in a chat completion. */
const candidatesMax = 128;

const content = z.looseObject({ role: z.nullish(z.string()) });
const schema = z.looseObject({
  ...plainMembers,
  contents: listOf(content, {
    itemsMin: 1,
    isGood: (one) => isJsonObject(one) && (one.role === undefined || typeof one.role === 'string'),
  }),
  systemInstruction: z.nullish(z.union([content, z.string()])),
  tools: z.nullish(listOf(z.looseObject({}), { isGood: isJsonObject })),
  toolConfig: z.nullish(z.looseObject({})),
  generationConfig: z.nullish(
    z.looseObject({
      maxOutputTokens: z.nullish(z.int().check(z.positive())),
      candidateCount: z.nullish(z.int().check(z.minimum(1), z.maximum(candidatesMax))),
    }),
  ),
  cachedContent: z.nullish(z.string()),
});

const part = membersOf({
  text: {},
  thought: {},
  thoughtSignature: {},
  inlineData: membersOf({ mimeType: {}, data: {} }),
  fileData: membersOf({ mimeType: {}, fileUri: {} }),
  functionCall: membersOf({ name: {} }),
  functionResponse: membersOf({
    name: {},
    parts: {
      items: membersOf({
        inlineData: membersOf({ mimeType: {}, data: {} }),
        fileData: membersOf({ mimeType: {}, fileUri: {} }),
      }),
    },
  }),
  executableCode: membersOf({ language: {} }),
  codeExecutionResult: membersOf({ outcome: {} }),
  toolCall: membersOf({ toolType: {} }),
  toolResponse: membersOf({ toolType: {} }),
});
const contentShape = membersOf({ role: {}, parts: { items: part } });
const reading = {
  names: new Set([...Object.keys(schema.shape), ...plainGatewayMembers, 'serviceTier', 'labels']),
  shapes: {
    contents: { items: contentShape },
    systemInstruction: contentShape,
    tools: { items: membersOf({ functionDeclarations: { items: membersOf({ name: {} }) } }) },
  },
  indivisible: plainGatewayMembers,
};
const refuseOtherCase = otherCaseCheck([...plainGatewayMembers]);

export const readGenerateRequest = (json: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  orFault(() => check(json, reading, false));

/**
 * Reads a count; `generateContentRequest` may be around the fields. A count has no output, so that the call costs
 * nothing.
 */
export function readCountRequest(json: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  return orFault(() => {
    const request = check(withoutWrapper(requireOneSpelling(json)), reading, true);
    const size = once(() => sizeOfCount(request.size()));
    return { ...request, size };
  });
}

/** Removes the wrapper; the gateway's own fields are next to the wrapper. */
function withoutWrapper(json: JsonText): JsonText {
  const wrapped = findMember(json, 'generateContentRequest');
  if (wrapped === undefined || !json.isObject(wrapped)) return json;
  if (findMember(json, 'contents') !== undefined) {
    const message = 'contents: stands beside generateContentRequest, which has it';
    throw fail('invalid_request', { message, param: 'contents' });
  }
  const beside = json.members().filter(({ name }) => plainGatewayMembers.has(name));
  const inner = json.members(wrapped).filter(({ name }) => !plainGatewayMembers.has(name));
  const fields = [...inner, ...beside].map(({ name, value }) => `${JSON.stringify(name)}:${json.slice(value)}`);
  const scanned = scanJson(`{${fields.join(',')}}`, { depthMax: bodyDepthMax });
  if (scanned.kind !== 'json') throw new Error('the fields of a body are no JSON');
  return scanned.json;
}

function check(text: JsonText, { path }: RequestReading, isCounted: boolean): ClientRequest {
  if (path === undefined) throw new Error('the path of a call of Gemini names no model');
  const json = requireOneSpelling(text);
  const { raw, body: checked } = readPlainBody(json, { schema, reading, refuseOtherCase });
  checkParts(raw);
  const providerState = providerStateOf(raw);
  const media = once(() => mediaOf(raw));
  const size = once(() => callSizeOf({ body: raw, json, media: media(), providerState }));
  const stream = path.operation === 'streamGenerateContent';
  const isEvents = new URLSearchParams(path.query).get('alt') === 'sse';
  return {
    interfaceId: isCounted ? 'count-contents' : 'generate-content',
    raw,
    text: () => json,
    path,
    ...readModels({ model: modelOf(path), models: checked.models }),
    memberOfModel: () => 'model',
    stream,
    ...(stream && !isEvents && { streamForm: listForm }),
    isOutputOpen: !isCounted && (generationConfigOf(raw).maxOutputTokens ?? null) === null,
    provider: readProviderPreferences(checked.provider ?? {}),
    cache: checked.cache ?? undefined,
    preset: undefined,
    responseSchema: undefined,
    providerState,
    answerIs: 'unnamed',
    promptMember: 'contents',
    outputBoundMember: 'generationConfig.maxOutputTokens',
    user: undefined,
    ...(isCounted && {
      answerItself: () =>
        estimateCount({ text: json.text, media: media(), toolTokens: toolTokensOf(raw) }, {}, 'totalTokens'),
    }),
    needs: once(() => readNeeds(raw, stream, size())),
    size,
    ...hubMembers(() => json, readHubNeeds),
    upstreamBody: (target) => upstreamBody(json, target, isCounted),
    schemaCheck: undefined,
    writeAnswer: isCounted ? asItIs : withCost,
    openStreamWriter: isEvents ? openEventWriter : openListWriter,
  };
}

/** Returns the model's name. SDKs write `models/` before a name, unless the name begins with it already. */
const modelOf = ({ model }: CallPath): string => model.replace(/^models\//, '');

/** Checks that a part has only one kind. */
function checkParts(body: JsonObject): void {
  for (const { content: one, path } of contentsOf(body)) {
    const { parts } = one;
    if (parts !== undefined && parts !== null && !(Array.isArray(parts) && parts.every(isJsonObject))) {
      const message = `${path}.parts: must be a list of objects`;
      throw fail('invalid_request', { message, param: `${path}.parts` });
    }
  }
}

function upstreamBody(json: JsonText, { model, defaultBound }: UpstreamTarget, isCounted: boolean) {
  const { changes, leftOut }: RelayedChanges = withoutForeignThinking(json);
  const isBounded = !isCounted && defaultBound !== undefined;
  const bound = isBounded
    ? withDefaultBound(json, 'generationConfig', 'maxOutputTokens', defaultBound.tokens)
    : undefined;
  const rewritten = new Map<string, unknown>([
    ...withoutGatewayMembers,
    ['model', undefined],
    ...changes,
    ...(bound === undefined ? [] : ([['generationConfig', bound]] as const)),
  ]);
  return { text: isCounted ? countedBody(json, rewritten, model) : rewriteMembers(json, rewritten), leftOut };
}

/**
 * Returns the body of a count. Instructions and tools are counted only inside the wrapper; unknown fields stay next to
 * the wrapper.
 */
function countedBody(json: JsonText, rewritten: ReadonlyMap<string, unknown>, model: string): string {
  const members = json.members().filter(({ name }) => !plainGatewayMembers.has(name) && name !== 'model');
  if (!members.some(({ name }) => wrappedFields.has(name))) return rewriteMembers(json, rewritten);
  const others = members.filter(({ name }) => name !== 'contents' && !wrappedFields.has(name));
  const wrapped = new Map([...rewritten, ...others.map(({ name }) => [name, undefined] as const)]);
  const beside = others.map(({ name, value }) => `,${JSON.stringify(name)}:${json.slice(value)}`);
  const fields = rewriteMembers(json, wrapped).slice(1);
  return `{"generateContentRequest":{"model":${JSON.stringify(`models/${model}`)},${fields}${beside.join('')}}`;
}

const wrappedFields: ReadonlySet<string> = new Set([
  ...['systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings', 'cachedContent', 'labels'],
  'serviceTier',
]);

const withCost = ({ json }: JsonAnswer, { costUsd }: AnswerCost): WrittenAnswer => {
  const usage = findMember(json, 'usageMetadata');
  const inner = usage === undefined || !json.isObject(usage) ? {} : (parseJson(json.slice(usage)) as JsonObject);
  const headers = { [headerNames.cost]: costUsd };
  return { body: rewriteMembers(json, new Map([['usageMetadata', { ...inner, cost_usd: costUsd }]])), headers };
};

const asItIs = ({ text }: JsonAnswer, { costUsd }: AnswerCost): WrittenAnswer => ({
  body: text,
  headers: { [headerNames.cost]: costUsd },
});

// Input and output sizes of a call of generateContent.

const mediaOf = (body: JsonObject): Media => sumOfMedia(mediaIn(body));

function* mediaIn(body: JsonObject): Generator<Media> {
  const measure = openImageMeasure();
  for (const { part } of partsOf(body)) {
    const inline = inlineDataOf(part);
    if (inline?.mimeType.startsWith('image/') === true) {
      const url = `data:${inline.mimeType};base64,${inline.data}`;
      yield { ...measure({ url, detail: undefined }), dataCharacters: inline.data.length };
    } else if (inline !== undefined) yield { ...boundedByContext, dataCharacters: inline.data.length };
    else if (fileOf(part) !== undefined) yield { ...boundedByContext, isElsewhere: true };
  }
}

const toolTokensOf = (body: JsonObject): number => {
  const { responseSchema, responseJsonSchema } = generationConfigOf(body);
  return claudeToolTokens(
    functionsOf(body.tools).map(() => ({ type: 'function' })),
    (responseSchema ?? responseJsonSchema ?? null) !== null,
  );
};

interface SizedRequest {
  readonly body: JsonObject;
  readonly json: JsonText;
  readonly media: Media;
  readonly providerState: readonly StateReference[];
}

function callSizeOf({ body, json, media, providerState }: SizedRequest): CallSize {
  const { maxOutputTokens, candidateCount } = generationConfigOf(body);
  return {
    maxOutputTokens: toCount(maxOutputTokens),
    // Without a bound the model's own applies.
    isOutputOpen: (maxOutputTokens ?? null) === null,
    namesNoBound: (maxOutputTokens ?? null) === null,
    choices: Math.max(1, toCount(candidateCount) ?? 1),
    predictionBytes: 0,
    textBytes: json.compactBytes - media.dataCharacters,
    // Input that the provider stores counts too, and only the context bounds it.
    mediaTokens: bringsInput(providerState) ? undefined : media.tokens,
    claudeToolTokens: toolTokensOf(body),
    hasMediaElsewhere: media.isElsewhere,
    contexts: 1,
    answersMax: 1,
  };
}

/** Returns references to a cached content, and to files that Google, or a bucket, stores. */
function providerStateOf(body: JsonObject): readonly StateReference[] {
  const files = new Map<string, StateReference>();
  for (const { part, path } of partsOf(body)) {
    const uri = fileOf(part)?.uri;
    if (uri === undefined || files.has(uri) || !isStorageUrl(uri)) continue;
    files.set(uri, { member: `${path}.fileData.fileUri`, id: uri, isCompared: false });
  }
  return [...providerStateIn({ cachedContent: body.cachedContent }), ...files.values()];
}
