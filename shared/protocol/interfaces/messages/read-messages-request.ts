// Reads a Messages request: strict in what the gateway reads, blind to the rest. `raw` keeps every member as it was sent.
import { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { isJsonObject, type JsonText, readProviderPreferences, rewriteMembers, type Shape } from '../../wire/index.ts';
import {
  type ClientRequest,
  dearerMemberNames,
  hubMembers,
  membersOf,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  type RequestReading,
  readAskedModels,
  readPlainBody,
  toolShape,
  withoutGatewayMembers,
} from '../index.ts';
import { estimateCount } from './estimate-count.ts';
import { withoutForeignThinking } from './foreign-thinking.ts';
import { readHubNeeds, readNeeds } from './message-hub-needs.ts';
import { callSizeOf } from './message-size.ts';
import { countTokensSchema, type MessagesMembers, messagesSchema } from './messages-request.ts';
import { openEventWriter, writeMessage } from './write-message.ts';

const usedNames = [...new Set([...Object.keys(messagesSchema.shape), ...plainGatewayMembers, ...dearerMemberNames])];
const refuseOtherCase = otherCaseCheck([...usedNames, 'metadata', 'thread']);

/** An image may stand in a document, and that in the result of a tool. */
const partWith = (inner: Shape): Shape =>
  membersOf({ type: {}, source: membersOf({ type: {}, data: {}, content: inner }), content: inner });
const part = partWith({ items: partWith({ items: partWith({}) }) });

const reading = {
  // `metadata.user_id` is recorded, and no provider takes another name for it.
  names: new Set([...usedNames, 'metadata', 'thread']),
  shapes: {
    messages: { items: membersOf({ role: {}, content: { items: part } }) },
    tools: { items: toolShape },
    mcp_servers: { items: {} },
    context_management: membersOf({ edits: { items: membersOf({ type: {} }) } }),
    metadata: membersOf({ user_id: {} }),
    thread: membersOf({ type: {}, previous_message_id: {} }),
  },
  indivisible: plainGatewayMembers,
};

export const readMessagesRequest = (body: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  readAs(messagesSchema, body, reading);

/** The same members without an output, so that it costs nothing, whatever is sent. */
export function readCountRequest(body: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readAs(countTokensSchema, body, reading);
  if (request instanceof GatewayError) return request;
  const size = once(() => ({ ...request.size(), textBytes: 0, mediaTokens: 0, hasMediaElsewhere: false }));
  return { ...request, size, answerItself: () => estimateCount(request) };
}

function readAs(
  schema: typeof messagesSchema | typeof countTokensSchema,
  body: JsonText,
  { betas }: RequestReading,
): ClientRequest | GatewayError {
  return orFault(() => check(schema, body, betas));
}

function check(
  schema: typeof messagesSchema | typeof countTokensSchema,
  json: JsonText,
  betas: string | undefined,
): ClientRequest {
  const { raw, body: checked } = readPlainBody(json, { schema, reading, refuseOtherCase });
  const { max_tokens: maxTokens, stream, ...body } = checked;
  const isCounted = schema === countTokensSchema;
  const isThreaded = (raw.thread ?? null) !== null;
  const members: MessagesMembers = {
    interfaceId: isCounted ? 'count-tokens' : 'messages',
    raw,
    text: () => json,
    ...readAskedModels(body),
    stream: !isCounted && stream === true,
    maxOutputTokens: isCounted ? 0 : (maxTokens as number),
    isOutputOpen: false,
    provider: readProviderPreferences(body.provider ?? {}),
    // What a provider keeps under an id is no answer to give again.
    cache: body.cache && isThreaded ? { ...body.cache, enabled: false } : (body.cache ?? undefined),
    preset: undefined,
    responseSchema: undefined,
    keptIds: continuedIds(raw.thread),
    keepsAnswer: isThreaded,
    promptMember: 'messages',
    user: userOf(raw.metadata),
  };
  const size = once(() => callSizeOf(members));
  return {
    ...members,
    needs: once(() => readNeeds(members, betas, size())),
    size,
    ...hubMembers(() => json, readHubNeeds),
    upstreamBody: ({ model }) =>
      rewriteMembers(json, new Map([...withoutGatewayMembers, ['model', model], ...withoutForeignThinking(json)])),
    schemaCheck: undefined,
    writeAnswer: writeMessage,
    openStreamWriter: openEventWriter,
  };
}

function userOf(metadata: unknown): string | undefined {
  const { user_id: user } = (metadata ?? {}) as { readonly user_id?: unknown };
  return typeof user === 'string' ? user : undefined;
}

/** The message that a thread goes on from: its provider alone knows it. Undefined: none does. */
function continuedIds(thread: unknown): readonly string[] | undefined {
  const { type, previous_message_id: id } = isJsonObject(thread) ? thread : {};
  if (type !== 'continue') return undefined;
  return typeof id === 'string' ? [id] : [];
}
