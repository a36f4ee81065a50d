// Reads a chat completion: strict in the fields that the gateway reads, indifferent to the rest. The schema only
// checks; `raw` keeps every field as it was sent, because unused ones reach the provider unchanged.
import type { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import {
  checkMembers,
  type JsonObject,
  JsonText,
  jsonTextOf,
  readProviderPreferences,
  withPlainNumbers,
} from '../../wire/index.ts';
import {
  hubMembers,
  membersOf,
  orFault,
  otherCaseCheck,
  providerStateIn,
  readMembers,
  readModels,
  refuseDoubles,
  stateMemberShapes,
  stateMessageShapes,
  statePartShapes,
  surchargeFields,
  toolShape,
} from '../index.ts';
import { callSizeOf } from './call-size.ts';
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
import { readNeeds } from './read-needs.ts';
import { schemaCheckOf } from './schema-check.ts';
import { toUpstreamBody } from './upstream-body.ts';
import { openChunkWriter, writeAnswer } from './write-answer.ts';

/** Members that are read or set elsewhere: by the planner for features and policies, or for a provider's style. */
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

/** `user` is recorded. */
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
  return orFault(() =>
    body instanceof JsonText
      ? checkText(body)
      : toChatRequest(
          body,
          once(() => jsonTextOf(body)),
        ),
  );
}

function checkText(json: JsonText): ChatRequest {
  refuseOtherCase(json.members().map(({ name }) => name));
  refuseDoubles(json, restricting);
  return toChatRequest(readMembers(json, reading), () => json);
}

function toChatRequest(raw: JsonObject, text: () => JsonText): ChatRequest {
  refuseOtherCase(Object.keys(raw));
  const { messages, ...options } = raw;
  const body = checkMembers(chatRequestSchema, { messages, ...(withPlainNumbers(options) as object) });
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

/** Takes the largest bound, because each provider uses another of the names. */
function readOutputBound(body: CheckedBody): Pick<ChatRequest, 'maxOutputTokens' | 'isOutputOpen' | 'namesNoBound'> {
  const sent = outputBoundNames.map((name) => body[name]).filter((bound) => (bound ?? null) !== null);
  const numbers = sent.filter((bound) => typeof bound === 'number' && Number.isInteger(bound) && bound > 0) as number[];
  return {
    maxOutputTokens: numbers.length === 0 ? undefined : Math.min(Math.max(...numbers), Number.MAX_SAFE_INTEGER),
    isOutputOpen: sent.length === 0 || numbers.length < sent.length,
    namesNoBound: sent.length === 0,
  };
}

/** A schema is in response_format.json_schema.schema. Its validity is checked later. */
function readResponseSchema(body: CheckedBody): unknown {
  if (body.response_format?.type !== 'json_schema') return undefined;
  const carried = { code: 'invalid_response_schema', prefix: ['response_format', 'json_schema'] } as const;
  return checkMembers(schemaCarrier, body.response_format.json_schema, carried).schema;
}
