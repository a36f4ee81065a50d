// Reads a Messages request. The reader is strict in the fields that the gateway reads, and indifferent to the rest.
// `raw` contains every field as it was sent.
import { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import {
  brokenStreamMessages,
  type CallSize,
  type Feature,
  type HubNeed,
  isJsonObject,
  type JsonObject,
  type JsonText,
  type RequestNeeds,
  readProviderPreferences,
  rewriteMembers,
  type Shape,
  toCount,
  toEventLine,
} from '../../wire/index.ts';
import {
  bringsInput,
  type ClientRequest,
  claudeToolTokens,
  dearerFeatures,
  dearerTools,
  estimateCount,
  firstOfEachNeed,
  hubMembers,
  isClientTool,
  type Media,
  membersOf,
  neededStops,
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
import { blockUse, messageRoles, toolChoiceTypes } from './block-types.ts';
import { withoutForeignThinking } from './foreign-thinking.ts';
import { mediaOf, pathOfImage } from './message-media.ts';
import { countTokensSchema, type MessagesMembers, messagesSchema } from './messages-request.ts';
import { declaredTools, offeredTools } from './offered-tools.ts';

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
/** Returns the shape of a part, because an image may be in a document, and the document in the result of a tool. */
const partWith = (inner: Shape): Shape =>
  membersOf({
    ...statePartShapes,
    source: membersOf({ type: {}, data: {}, content: inner, file_id: {}, url: {} }),
    content: inner,
    tool: toolChange,
  });
const part = partWith({ items: partWith({ items: partWith({}) }) });

const reading = {
  // `metadata.user_id` is recorded, and every provider of the interface has the same name for it.
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

/**
 * Checks the request. Throws the GatewayError of the first fault. `changes` collects fields that a provider gets with
 * other values.
 */
export function checkMessages(
  schema: typeof messagesSchema | typeof countTokensSchema,
  json: JsonText,
  { betas, path, changes: interfaceChanges = [] }: RequestReading & Partial<Pick<RelayedChanges, 'changes'>>,
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
    // Content that a provider stores under an id may change, so its answer is not cached.
    cache: body.cache && isThreaded ? { ...body.cache, enabled: false } : (body.cache ?? undefined),
    preset: undefined,
    responseSchema: undefined,
    providerState: providerStateIn(raw),
    answerIs: isJsonObject(raw.diagnostics) ? 'compared' : isThreaded ? 'stored' : 'unnamed',
    promptMember: 'messages',
    outputBoundMember: 'max_tokens',
    user: userOf(raw.metadata),
  };
  // The media are measured together with the size, because the media of a long body are dropped then.
  const media = once(() => mediaOf(raw.messages));
  const size = once(() => callSizeOf(members, media()));
  return {
    ...members,
    ...(isCounted && {
      answerItself: () => estimateCount({ text: json.text, media: media(), toolTokens: toolTokensOf(raw) }, {}),
    }),
    needs: once(() => readNeeds(members, betas, size())),
    size,
    ...hubMembers(() => json, readHubNeeds),
    upstreamBody({ model }) {
      const { changes, leftOut } = withoutForeignThinking(json);
      const changedFields = new Map([...withoutGatewayMembers, ['model', model], ...interfaceChanges, ...changes]);
      return { text: rewriteMembers(json, changedFields), leftOut };
    },
    schemaCheck: undefined,
    // Clients of Messages are strict about fields of `usage`, so the cost is in a header.
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

// Input and output sizes of a Messages call.

function callSizeOf(
  { raw, text, maxOutputTokens, providerState }: MessagesMembers,
  { tokens, dataCharacters, isElsewhere }: Media,
): CallSize {
  // The provider reads the whole input, writes a summary, and only then the message, which makes two answers on one
  // bill.
  const answers = asksForCompaction(raw.context_management) ? 2 : 1;
  // Each use of an advisor is an answer of a model that reads the whole input, after which the model itself continues.
  const advices = advicesMax(raw.tools);
  const samplings = answers + 2 * advices;
  return {
    // The bound includes thinking.
    maxOutputTokens,
    isOutputOpen: false,
    choices: answers,
    predictionBytes: 0,
    ...(advices > 0 && { answersBeside: advices }),
    textBytes: (text().compactBytes - dataCharacters) * samplings,
    // Input that a provider stores counts too, and only the context bounds it.
    mediaTokens: tokens === undefined || bringsInput(providerState) ? undefined : tokens * samplings,
    claudeToolTokens: toolTokensOf(raw) * samplings,
    hasMediaElsewhere: isElsewhere,
    contexts: samplings,
    answersMax: 1,
  };
}

const toolTokensOf = (raw: JsonObject): number =>
  claudeToolTokens(
    declaredTools(raw).map(({ tool }) => tool),
    [isJsonObject(raw.output_config) ? raw.output_config.format : undefined, raw.output_format].some(isJsonObject),
  );

const compaction = /^compact(_|$)/;

function asksForCompaction(management: unknown): boolean {
  const edits = isJsonObject(management) && Array.isArray(management.edits) ? management.edits : [];
  return edits.some((edit) => isJsonObject(edit) && typeof edit.type === 'string' && compaction.test(edit.type));
}

const advisor = /^advisor(_|$)/;
/** Assumed uses of a tool without a limit of its own; below, the highest limit that is trusted. */
const advicesDefault = 4;
const advicesBelieved = 32;

function advicesMax(tools: unknown): number {
  const advisors = (Array.isArray(tools) ? tools : []).filter(
    (tool) => isJsonObject(tool) && typeof tool.type === 'string' && advisor.test(tool.type),
  );
  return advisors.reduce<number>(
    (sum, { max_uses: uses }) => sum + Math.min(toCount(uses) ?? advicesDefault, advicesBelieved),
    0,
  );
}

// Features of a Messages request that not every provider format can express.

export const readHubNeeds = (body: JsonObject): readonly HubNeed[] =>
  firstOfEachNeed([
    ...neededState(body),
    ...forcedTool(body),
    ...neededStops(body.stop_sequences, 'stop_sequences'),
    ...neededBlocks(body.system, 'system'),
    ...inMessages(body),
  ]);

const isSent = (value: unknown): boolean => (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);

/**
 * Returns the needs of state, because state that one provider stores, and an encrypted summary, exist at no other
 * provider.
 */
const neededState = (body: JsonObject): HubNeed[] =>
  (['thread', 'mcp_servers', 'container', 'compaction'] as const).flatMap((member) =>
    isSent(body[member]) ? [{ kind: member, member }] : [],
  );

/**
 * Returns the need for a forced call of a provider's own tool. This tool is dropped if it is optional, and then there
 * would be no tool to call.
 */
function forcedTool(body: JsonObject): HubNeed[] {
  const schemaTools = offeredTools(body).filter(({ tool }) => isJsonObject(tool.input_schema));
  const { type, name } = isJsonObject(body.tool_choice) ? body.tool_choice : {};
  const isForced =
    type === 'any' ? schemaTools.length === 0 : type === 'tool' && !schemaTools.some(({ tool }) => tool.name === name);
  const isNew = (type ?? null) !== null && !toolChoiceTypes.has(type);
  return isForced || isNew ? [{ kind: 'tools', member: 'tool_choice' }] : [];
}

const inMessages = ({ messages }: JsonObject): HubNeed[] =>
  (Array.isArray(messages) ? messages : []).flatMap((message, index) =>
    isJsonObject(message)
      ? [...neededRole(message, `messages[${index}]`), ...neededBlocks(message.content, `messages[${index}].content`)]
      : [],
  );

/** Returns the need for an unknown role, which decides the effect of a message. */
const neededRole = ({ role }: JsonObject, path: string): HubNeed[] =>
  messageRoles.has(role) ? [] : [{ kind: 'content_part', member: `${path}.role` }];

const neededBlocks = (content: unknown, path: string): HubNeed[] =>
  (Array.isArray(content) ? content : []).flatMap((block, index) =>
    isJsonObject(block) ? neededBlock(block, `${path}[${index}]`) : [],
  );

function neededBlock(block: JsonObject, member: string): HubNeed[] {
  const { type, source, content } = block;
  if (type === 'tool_result') return neededBlocks(content, `${member}.content`);
  if (type === 'image' || type === 'document') return neededSource(source, type, member);
  const use = blockUse(type);
  return typeof use === 'string' ? [] : [{ kind: use.needs, member }];
}

/**
 * Types of sources that may refer to state, because a text that is not a URL may be a name in the provider's storage.
 */
const storedSources: readonly unknown[] = ['file', 'url', undefined];

function neededSource(source: unknown, block: 'image' | 'document', member: string): HubNeed[] {
  const { type, url, media_type: mediaType, content } = isJsonObject(source) ? source : {};
  if (type === 'text') return [];
  if (type === 'content') return neededBlocks(content, `${member}.source.content`);
  if (type === 'url' && typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url)) {
    return [{ kind: block === 'image' ? 'image_url' : 'file_url', member }];
  }
  if (type === 'base64' && block === 'image') return [];
  if (type !== 'base64') return [{ kind: storedSources.includes(type) ? 'file_id' : 'content_part', member }];
  return [{ kind: 'file', member, value: typeof mediaType === 'string' ? mediaType : 'application/pdf' }];
}

// Returns the features that a Messages call needs from a candidate, and the fields that request them.

function readNeeds(
  members: MessagesMembers,
  betas: string | undefined,
  { textBytes, contexts }: Pick<CallSize, 'textBytes' | 'contexts'>,
): RequestNeeds {
  const { raw, stream } = members;
  const declared = declaredTools(raw);
  const image = pathOfImage(raw.messages);
  const first = declared.find(({ tool }) => isClientTool(tool));
  const features: Feature[] = [
    ...(first === undefined ? [] : [{ name: 'tools', member: first.path.replace(/^tools\[.*/, 'tools') } as const]),
    ...(image === undefined ? [] : [{ name: 'vision', member: image } as const]),
    ...(stream ? [{ name: 'streaming', member: 'stream' } as const] : []),
    ...dearerFeatures(raw, { usualTiers, betas }),
    ...dearerTools(
      declared.map(({ tool }) => tool),
      (index) => declared[index]?.path ?? 'tools',
    ),
  ];
  // A thread is a conversation that its provider stores.
  const storingMember = (raw.thread ?? null) === null ? undefined : 'thread';
  return { features, schemaMember: schemaMemberOf(raw), storingMember, promptBytes: textBytes / contexts };
}

/** Returns the field with the schema, which is the current field, or the field of the former beta. */
function schemaMemberOf({ output_config: config, output_format: former }: JsonObject): string | undefined {
  if (isSchema(isJsonObject(config) ? config.format : undefined)) return 'output_config.format';
  return isSchema(former) ? 'output_format' : undefined;
}

const isSchema = (format: unknown): boolean => isJsonObject(format) && format.type === 'json_schema';

/** Tiers at the catalogue's prices or below. */
const usualTiers: readonly string[] = ['auto', 'standard_only', 'default', 'flex'];
