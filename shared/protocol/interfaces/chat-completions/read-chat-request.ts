// Reads a chat completion. The reader is strict in the fields that the gateway reads, and indifferent to the rest. The
// schema only checks; `raw` contains every field as it was sent, because unused fields reach the provider unchanged.
import type { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { chargedAnswersMax } from '../../../foundation/constants/index.ts';
import {
  type AbilityName,
  type CallSize,
  checkMembers,
  type Feature,
  findMember,
  isJsonObject,
  type JsonObject,
  JsonText,
  jsonTextOf,
  type RequestNeeds,
  readProviderPreferences,
  withPlainNumbers,
} from '../../wire/index.ts';
import {
  boundedByContext,
  bringsInput,
  claudeToolTokens,
  dearerFeatures,
  dearerTools,
  hubMembers,
  type Media,
  membersOf,
  openAiUsualTiers,
  openImageMeasure,
  orFault,
  otherCaseCheck,
  providerStateIn,
  readMembers,
  readModels,
  refuseDoubles,
  retentionMember,
  stateMemberShapes,
  stateMessageShapes,
  statePartShapes,
  sumOfMedia,
  surchargeFields,
  toolShape,
} from '../index.ts';
import {
  type ChatMembers,
  type ChatRequest,
  type CheckedBody,
  chatRequestSchema,
  outputBoundNames,
  schemaCarrier,
} from './chat-request.ts';
import { gatewayMembers } from './gateway-members.ts';
import { readHubNeeds } from './hub-needs.ts';
import { schemaCheckOf } from './schema-check.ts';
import { toUpstreamBody } from './upstream-body.ts';
import { openChunkWriter, writeAnswer } from './write-answer.ts';

/** Fields that other code reads or sets, which is the planner for features and policies, or the style of a provider. */
const otherUsedNames = [
  'functions',
  'modalities',
  'store',
  'prompt_cache_retention',
  'reasoning_effort',
  'prediction',
  ...surchargeFields,
  ...Object.keys(stateMemberShapes),
];

/** Fields that are read; `user` is recorded. */
const readNames: ReadonlySet<string> = new Set([...Object.keys(chatRequestSchema.shape), ...otherUsedNames, 'user']);

const refuseOtherCase = otherCaseCheck(readNames);
const restricting = ['provider', 'cache', 'preset', 'usage', 'reasoning', 'response_format', 'stream_options'];

const part = membersOf({ ...statePartShapes, text: {} });
const message = membersOf({ ...stateMessageShapes, role: {}, content: { items: part } });

const reading = {
  names: readNames,
  shapes: {
    ...stateMemberShapes,
    messages: { items: message },
    tools: { items: toolShape },
    functions: { items: {} },
  },
  indivisible: new Set([...gatewayMembers, 'stream_options', 'response_format']),
  schemaMember: 'response_format',
};

/** Reads the text of a body, or its fields. An error is returned, not thrown, because a refused key has precedence. */
export function readChatRequest(body: JsonText | JsonObject): ChatRequest | GatewayError {
  return orFault(() => (body instanceof JsonText ? checkText(body) : checkObject(body)));
}

function checkObject(raw: JsonObject): ChatRequest {
  refuseOtherCase(Object.keys(raw));
  const { messages, ...options } = raw;
  // Messages have no number that the schema reads.
  const plain = { messages, ...(withPlainNumbers(options) as object) };
  return toChatRequest(
    raw,
    once(() => jsonTextOf(raw)),
    plain,
  );
}

function checkText(json: JsonText): ChatRequest {
  refuseOtherCase(json.members().map(({ name }) => name));
  refuseDoubles(json, restricting);
  return toChatRequest(readMembers(json, reading), () => json);
}

/** Makes the request. `plain` has the same fields with plain numbers. */
function toChatRequest(raw: JsonObject, text: () => JsonText, plain = raw): ChatRequest {
  const body = checkMembers(chatRequestSchema, plain);
  const members: ChatMembers = {
    interfaceId: 'chat-completions',
    raw,
    text,
    ...readModels(body),
    stream: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    includeMergedUsage: body.usage?.include ?? false,
    provider: readProviderPreferences(body.provider ?? {}),
    reasoning: body.reasoning ?? undefined,
    cache: body.cache ?? undefined,
    preset: body.preset ?? undefined,
    ...readOutputBound(body),
    choices: body.n ?? 1,
    responseSchema: readResponseSchema(body),
    providerState: providerStateIn(raw),
    answerIs: 'unnamed',
    promptMember: 'messages',
    outputBoundMember: 'max_tokens',
    user: typeof raw.user === 'string' ? raw.user : undefined,
  };
  return {
    ...members,
    needs: once(() => readNeeds(members)),
    size: once(() => callSizeOf(members)),
    ...hubMembers(text, readHubNeeds),
    upstreamBody: (target) => toUpstreamBody(members, target),
    schemaCheck: members.responseSchema === undefined ? undefined : schemaCheckOf(members.responseSchema),
    writeAnswer: (answer, cost) => writeAnswer(members, answer, cost),
    openStreamWriter: (options) => openChunkWriter(members, options),
  };
}

/** Returns the largest bound, because each provider uses another of the names. */
function readOutputBound(body: CheckedBody): Pick<ChatRequest, 'maxOutputTokens' | 'isOutputOpen' | 'namesNoBound'> {
  const bounds = outputBoundNames.map((name) => body[name]).filter((bound) => (bound ?? null) !== null);
  const numbers = bounds.filter(
    (bound) => typeof bound === 'number' && Number.isInteger(bound) && bound > 0,
  ) as number[];
  return {
    maxOutputTokens: numbers.length === 0 ? undefined : Math.min(Math.max(...numbers), Number.MAX_SAFE_INTEGER),
    isOutputOpen: bounds.length === 0 || numbers.length < bounds.length,
    namesNoBound: bounds.length === 0,
  };
}

/** Returns response_format.json_schema.schema. Its validity is checked later. */
function readResponseSchema(body: CheckedBody): unknown {
  if (body.response_format?.type !== 'json_schema') return undefined;
  const carried = { code: 'invalid_response_schema', prefix: ['response_format', 'json_schema'] } as const;
  return checkMembers(schemaCarrier, body.response_format.json_schema, carried).schema;
}

// Input and output sizes of a chat completion.

function callSizeOf(request: ChatMembers): CallSize {
  const { raw, maxOutputTokens, isOutputOpen, namesNoBound, choices, responseSchema, providerState } = request;
  const json = request.text();
  const { tokens, dataCharacters, isElsewhere } = mediaOf(request);
  return {
    maxOutputTokens,
    isOutputOpen,
    namesNoBound,
    choices,
    predictionBytes: raw.prediction == null ? 0 : bytesOfMember(json, 'prediction'),
    textBytes: json.compactBytes - dataCharacters,
    // Input that the provider stores counts too, and only the context bounds it.
    mediaTokens: bringsInput(providerState) ? undefined : tokens,
    claudeToolTokens: claudeToolTokens(raw.tools ?? raw.functions, asksForJson(raw.response_format)),
    hasMediaElsewhere: isElsewhere,
    contexts: 1,
    answersMax: responseSchema === undefined ? 1 : chargedAnswersMax,
  };
}

const asksForJson = (format: unknown): boolean => isJsonObject(format) && format.type !== 'text';

function bytesOfMember(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}

// The media of a chat-completions request.

const mediaOf = ({ raw }: Pick<ChatMembers, 'raw'>): Media => sumOfMedia(mediaIn(raw.messages));

function* mediaIn(messages: unknown): Generator<Media> {
  const measure = openImageMeasure();
  for (const message of Array.isArray(messages) ? messages : []) {
    if (!isJsonObject(message)) continue;
    // An assistant message that refers to its audio brings it into the context again.
    if (isJsonObject(message.audio)) yield boundedByContext;
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (!isTextPart(part)) yield imageOf(part, measure) ?? boundedByContext;
    }
  }
}

const isTextPart = (part: unknown): boolean => isJsonObject(part) && (part.type === 'text' || part.type === 'refusal');

function imageOf(part: unknown, measure: ReturnType<typeof openImageMeasure>): Media | undefined {
  if (!isJsonObject(part) || part.type !== 'image_url') return undefined;
  const { url, detail } = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url, detail: undefined };
  return typeof url === 'string' ? measure({ url, detail }) : undefined;
}

// Finds the features that a chat completion needs, and the fields that request them.

/**
 * Returns the needs. Only a real use counts. An empty list of tools or a `tool_choice` alone reaches the provider
 * unchanged.
 */
function readNeeds({ raw, stream, choices }: ChatMembers): RequestNeeds {
  const format = isJsonObject(raw.response_format) ? raw.response_format.type : undefined;
  const abilities: Record<AbilityName, string | false | undefined> = {
    tools: (isFilled(raw.tools) && 'tools') || (isFilled(raw.functions) && 'functions'),
    vision: pathOfPart(raw.messages, ['image_url', 'input_image']),
    audio:
      pathOfPart(raw.messages, ['input_audio']) ??
      ((isJsonObject(raw.audio) && 'audio') || (includesAudio(raw.modalities) && 'modalities')),
    json_mode: format === 'json_object' && 'response_format',
    streaming: stream && 'stream',
  };
  const isBestOf = isSent(raw.best_of) && !isAtMost(raw.best_of, choices);
  const features: Feature[] = [
    ...neededOf(abilities),
    ...dearerFeatures(raw, { usualTiers: openAiUsualTiers }),
    ...(isBestOf ? [{ extra: 'best_of', member: 'best_of' } as const] : []),
    ...dearerTools(raw.tools, (index) => `tools[${index}]`),
  ];
  const storingMember = (raw.store ?? false) === false ? retentionMember(raw) : 'store';
  const schemaMember = format === 'json_schema' ? 'response_format' : undefined;
  return { features, schemaMember, storingMember, promptBytes: promptBytesOf(raw.messages) };
}

function neededOf(memberByAbility: Readonly<Record<AbilityName, string | false | undefined>>): Feature[] {
  const needed: Feature[] = [];
  for (const name of Object.keys(memberByAbility) as AbilityName[]) {
    const member = memberByAbility[name];
    if (typeof member === 'string') needed.push({ name, member });
  }
  return needed;
}

const isSent = (value: unknown): boolean => value !== undefined && value !== null;
const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const isAtMost = (value: unknown, max: number): boolean => typeof value === 'number' && value <= max;

const includesAudio = (modalities: unknown): boolean => Array.isArray(modalities) && modalities.includes('audio');

/** Returns the path of the first part of one of these types in the messages. */
function pathOfPart(messages: unknown, types: readonly unknown[]): string | undefined {
  if (!Array.isArray(messages)) return undefined;
  for (let index = 0; index < messages.length; index += 1) {
    const message: unknown = messages[index];
    if (!isJsonObject(message) || !Array.isArray(message.content)) continue;
    const part = message.content.findIndex((one) => isJsonObject(one) && types.includes(one.type));
    if (part >= 0) return `messages[${index}].content[${part}]`;
  }
  return undefined;
}

function promptBytesOf(messages: unknown): number {
  if (!Array.isArray(messages)) return 0;
  return messages.reduce<number>(
    (sum, message) => sum + (isJsonObject(message) ? contentBytes(message.content) : 0),
    0,
  );
}

function contentBytes(content: unknown): number {
  if (!Array.isArray(content)) return textBytes(content);
  return content.reduce<number>((sum, part) => sum + (isJsonObject(part) ? textBytes(part.text) : 0), 0);
}

const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0);
