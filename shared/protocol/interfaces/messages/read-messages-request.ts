// Reads a Messages request: strict in the fields that the gateway reads, indifferent to the rest. `raw` keeps every
// field as it was sent.
import { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import {
  brokenStreamMessages,
  isJsonObject,
  type JsonText,
  readProviderPreferences,
  rewriteMembers,
  type Shape,
  toEventLine,
} from '../../wire/index.ts';
import {
  type ClientRequest,
  estimateCount,
  hubMembers,
  membersOf,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  providerStateIn,
  type RelayedChanges,
  type RequestReading,
  readModels,
  readPlainBody,
  type StreamWriter,
  sizeOfCount,
  stateMemberShapes,
  statePartShapes,
  surchargeFields,
  toolShape,
  withCostHeader,
  withoutGatewayMembers,
} from '../index.ts';
import { withoutForeignThinking } from './foreign-thinking.ts';
import { readHubNeeds, readNeeds } from './message-hub-needs.ts';
import { mediaOf } from './message-media.ts';
import { callSizeOf, toolTokensOf } from './message-size.ts';
import { countTokensSchema, type MessagesMembers, messagesSchema } from './messages-request.ts';

const usedNames = [
  ...new Set([
    ...Object.keys(messagesSchema.shape),
    ...plainGatewayMembers,
    ...surchargeFields,
    ...Object.keys(stateMemberShapes),
  ]),
];
const refuseOtherCase = otherCaseCheck([...usedNames, 'metadata']);

const toolChange = membersOf({ name: {}, definition: toolShape });
/** An image may be in a document, and that in the result of a tool. */
const partWith = (inner: Shape): Shape =>
  membersOf({
    ...statePartShapes,
    source: membersOf({ type: {}, data: {}, content: inner, file_id: {}, url: {} }),
    content: inner,
    tool: toolChange,
  });
const part = partWith({ items: partWith({ items: partWith({}) }) });

const reading = {
  // `metadata.user_id` is recorded, and no provider takes another name for it.
  names: new Set([...usedNames, 'metadata', 'system', 'output_config', 'output_format']),
  shapes: {
    ...stateMemberShapes,
    system: { items: part },
    output_config: membersOf({ format: membersOf({ type: {} }) }),
    output_format: membersOf({ type: {} }),
    messages: { items: membersOf({ role: {}, content: { items: part } }) },
    tools: { items: toolShape },
    mcp_servers: { items: {} },
    context_management: membersOf({ edits: { items: membersOf({ type: {} }) } }),
    metadata: membersOf({ user_id: {} }),
  },
  indivisible: plainGatewayMembers,
};

export const readMessagesRequest = (body: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  readAs(messagesSchema, body, reading);

/** Reads the same fields without an output, so that the call costs nothing, whatever is sent. */
export function readCountRequest(body: JsonText, reading: RequestReading): ClientRequest | GatewayError {
  const request = readAs(countTokensSchema, body, reading);
  if (request instanceof GatewayError) return request;
  const size = once(() => sizeOfCount(request.size()));
  // A count is of the conversation as it is.
  const hubNeeds = () => request.hubNeeds().filter(({ kind }) => kind !== 'compaction');
  return { ...request, size, hubNeeds };
}

const readAs = (
  schema: typeof messagesSchema | typeof countTokensSchema,
  body: JsonText,
  reading: RequestReading,
): ClientRequest | GatewayError => orFault(() => checkMessages(schema, body, reading));

/** Throws the GatewayError of the first fault. `changes`: fields that a provider gets otherwise. */
export function checkMessages(
  schema: typeof messagesSchema | typeof countTokensSchema,
  json: JsonText,
  { betas, path, changes: ofInterface = [] }: RequestReading & Partial<Pick<RelayedChanges, 'changes'>>,
): ClientRequest {
  const { raw, body: checked } = readPlainBody(json, { schema, reading, refuseOtherCase });
  const { max_tokens: maxTokens, stream, ...body } = checked;
  const isCounted = schema === countTokensSchema;
  const isThreaded = (raw.thread ?? null) !== null;
  const members: MessagesMembers = {
    interfaceId: isCounted ? 'count-tokens' : 'messages',
    raw,
    text: () => json,
    ...readModels(path === undefined ? body : { ...body, model: path.model }),
    path,
    stream: !isCounted && stream === true,
    maxOutputTokens: isCounted ? 0 : (maxTokens as number),
    isOutputOpen: false,
    provider: readProviderPreferences(body.provider ?? {}),
    // Content that a provider keeps under an id may change, so such an answer is not cached.
    cache: body.cache && isThreaded ? { ...body.cache, enabled: false } : (body.cache ?? undefined),
    preset: undefined,
    responseSchema: undefined,
    providerState: providerStateIn(raw),
    answerIs: isJsonObject(raw.diagnostics) ? 'compared' : isThreaded ? 'stored' : 'unnamed',
    promptMember: 'messages',
    outputBoundMember: 'max_tokens',
    user: userOf(raw.metadata),
  };
  // Measured with the size: the media of a long body are let go then.
  const media = once(() => mediaOf(raw.messages));
  const size = once(() => callSizeOf(members, media()));
  return {
    ...members,
    ...(isCounted && {
      answerItself: (nextStep) =>
        estimateCount({ text: json.text, media: media(), toolTokens: toolTokensOf(raw) }, {}, nextStep),
    }),
    needs: once(() => readNeeds(members, betas, size())),
    size,
    ...hubMembers(() => json, readHubNeeds),
    upstreamBody({ model }) {
      const { changes, leftOut } = withoutForeignThinking(json);
      const changed = new Map([...withoutGatewayMembers, ['model', model], ...ofInterface, ...changes]);
      return { text: rewriteMembers(json, changed), leftOut };
    },
    schemaCheck: undefined,
    // Clients are strict about fields of `usage` here.
    writeAnswer: withCostHeader,
    openStreamWriter: openEventWriter,
  };
}

function userOf(metadata: unknown): string | undefined {
  const { user_id: user } = (metadata ?? {}) as { readonly user_id?: unknown };
  return typeof user === 'string' ? user : undefined;
}

const openEventWriter = (): StreamWriter => ({
  event: ({ name, text }) => toEventLine(text, name),
  ping: toEventLine(JSON.stringify({ type: 'ping' }), 'ping'),
  // The provider's own end is the last event.
  beforeEnd: () => '',
  end: '',
  broken(code, message = brokenStreamMessages[code]) {
    const error = {
      type: 'api_error',
      message: `${code}: ${message}`,
      details: { error_code: code },
    };
    return toEventLine(JSON.stringify({ type: 'error', error }), 'error');
  },
});
