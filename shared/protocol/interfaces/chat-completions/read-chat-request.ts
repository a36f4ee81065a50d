// Reads a chat completion: strict in what the gateway reads, blind to the rest. The schema only checks; `raw` keeps every
// member as it was sent, because what is not used reaches the provider unchanged.
import { fail, GatewayError } from '../../../errors/index.ts';
import { JsonText, jsonTextOf, readProviderPreferences, refuseFirstIssue, withPlainNumbers } from '../../wire/index.ts';
import { callSizeOf } from './call-size.ts';
import {
  type ChatMembers,
  type ChatRequest,
  type CheckedBody,
  chatRequestSchema,
  outputBoundNames,
  schemaCarrier,
} from './chat-request.ts';
import { readMembers } from './read-members.ts';
import { readNeeds } from './read-needs.ts';
import { schemaCheckOf } from './schema-check.ts';
import { toUpstreamBody } from './upstream-body.ts';
import { openChunkWriter, writeAnswer } from './write-answer.ts';

/** Members that are read or set elsewhere: by the planner for features and policies, or for a provider's style. */
const otherUsedNames = ['functions', 'modalities', 'audio', 'store', 'reasoning_effort', 'prediction'];

/** `user` is recorded, and no provider takes another name for it. */
const readNames: ReadonlySet<string> = new Set([...Object.keys(chatRequestSchema.shape), ...otherUsedNames, 'user']);

/** Lower case → the name as the gateway knows it. */
const usedNames: ReadonlyMap<string, string> = new Map(
  [...Object.keys(chatRequestSchema.shape), ...otherUsedNames].map((name) => [name.toLowerCase(), name]),
);

/** Such a name is a used one itself, or none. */
const lowerCase = /^[a-z0-9_]*$/;
const usedNameMaxCharacters = Math.max(...[...usedNames.keys()].map(({ length }) => length));

/** Reads the text of a body, or its members. An error is returned, not thrown: a key that is refused wins over it. */
export function readChatRequest(body: JsonText | Readonly<Record<string, unknown>>): ChatRequest | GatewayError {
  try {
    return body instanceof JsonText
      ? checkText(body)
      : checkMembers(
          body,
          once(() => jsonTextOf(body)),
        );
  } catch (cause) {
    // Whatever a body makes a check throw (a stack that is too deep, say) is the body's fault.
    return cause instanceof GatewayError ? cause : fail('invalid_request', { cause });
  }
}

function checkText(json: JsonText): ChatRequest {
  refuseOtherCase(json.members().map(({ name }) => name));
  return checkMembers(readMembers(json, readNames), () => json);
}

function checkMembers(raw: Readonly<Record<string, unknown>>, text: () => JsonText): ChatRequest {
  refuseOtherCase(Object.keys(raw));
  const { messages, ...options } = raw;
  const checked = chatRequestSchema.safeParse({ messages, ...(withPlainNumbers(options) as object) });
  if (!checked.success) throw refuseFirstIssue('invalid_request', checked.error);
  const body = checked.data;
  const [model, ...fallbackModels] = new Set([body.model, ...(body.models ?? [])].filter((id) => id !== undefined));
  if (model === undefined) throw fail('invalid_request', { message: 'model: is missing', param: 'model' });
  const members: ChatMembers = {
    raw,
    text,
    model,
    fallbackModels,
    memberOfModel: (id) => memberOfModel(raw, id),
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
    firstCandidateOnly: false,
    user: typeof raw.user === 'string' ? raw.user : undefined,
  };
  return {
    ...members,
    needs: once(() => readNeeds(members)),
    size: once(() => callSizeOf(members)),
    upstreamBody: (target) => toUpstreamBody(members, target),
    schemaCheck: members.responseSchema === undefined ? undefined : schemaCheckOf(members.responseSchema),
    writeAnswer: (answer, cost) => writeAnswer(members, answer, cost),
    openStreamWriter: (options) => openChunkWriter(members, options),
  };
}

function memberOfModel({ model, models }: ChatRequest['raw'], id: string): string {
  const index = model === id || !Array.isArray(models) ? -1 : models.indexOf(id);
  return index < 0 ? 'model' : `models[${index}]`;
}

/**
 * A provider that reads names without case (many Go servers) would see another `model` or `max_tokens` than
 * the one that was checked and paid for. Upper case first, because Go takes a long s for an s.
 */
function refuseOtherCase(names: Iterable<string>): void {
  for (const name of names) {
    if (name.length > usedNameMaxCharacters || lowerCase.test(name)) continue;
    const used = usedNames.get(name.toUpperCase().toLowerCase());
    if (used === undefined || used === name) continue;
    throw fail('invalid_request', { message: `${used}: was also sent in another letter case`, param: used });
  }
}

/** Which of the names counts depends on the provider: the largest bound is what may be used. */
function readOutputBound(body: CheckedBody): Pick<ChatRequest, 'maxOutputTokens' | 'isOutputOpen'> {
  const sent = outputBoundNames.map((name) => body[name]).filter((bound) => (bound ?? null) !== null);
  const numbers = sent.filter((bound) => typeof bound === 'number' && Number.isInteger(bound) && bound > 0) as number[];
  return {
    maxOutputTokens: numbers.length === 0 ? undefined : Math.min(Math.max(...numbers), Number.MAX_SAFE_INTEGER),
    isOutputOpen: sent.length === 0 || numbers.length < sent.length,
  };
}

/** A schema stands under response_format.json_schema.schema. Whether it is a good one is asked later. */
function readResponseSchema(body: CheckedBody): unknown {
  if (body.response_format?.type !== 'json_schema') return undefined;
  const checked = schemaCarrier.safeParse(body.response_format.json_schema);
  if (checked.success) return checked.data.schema;
  throw refuseFirstIssue('invalid_response_schema', checked.error, ['response_format', 'json_schema']);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
