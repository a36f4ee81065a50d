// Reads a Responses request. The reader is strict in the fields that the gateway reads, and indifferent to the rest.
import { fail, type GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import {
  type Feature,
  findMember,
  isJsonObject,
  type JsonText,
  type RequestNeeds,
  readProviderPreferences,
  rewriteMembers,
  type UpstreamTarget,
} from '../../wire/index.ts';
import {
  type ClientRequest,
  dearerFeatures,
  dearerTools,
  hubMembers,
  membersOf,
  openAiUsualTiers,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  providerStateIn,
  type RequestReading,
  readModels,
  readPlainBody,
  retentionMember,
  stateItemShapes,
  stateMemberShapes,
  statePartShapes,
  surchargeFields,
  toolShape,
  type UpstreamBody,
  withoutGatewayMembers,
} from '../index.ts';
import { refuseOwnReferences, withoutOwnItems } from './own-items.ts';
import { readHubNeeds } from './response-hub-needs.ts';
import { refusedStream } from './response-opening.ts';
import { imageTypes, partsOf, toolListsOf } from './response-parts.ts';
import { responseSettings } from './response-settings.ts';
import { responseSize } from './response-size.ts';
import { type ResponsesBody, responsesSchema } from './responses-body.ts';
import { openResponseWriter, writeResponse } from './write-response.ts';

const usedNames = [
  ...new Set([
    ...Object.keys(responsesSchema.shape),
    ...plainGatewayMembers,
    ...surchargeFields,
    ...Object.keys(stateMemberShapes),
  ]),
];
const refuseOtherCase = otherCaseCheck([...usedNames, 'user']);

const partMembers = { ...statePartShapes, text: {}, detail: {} };
const part = membersOf(partMembers);
const parts = { ...part, items: part };
const tools = { items: toolShape };
const reading = {
  // `user` is recorded, and every provider of the interface has the same name for it.
  names: new Set([...usedNames, 'user']),
  shapes: {
    ...stateMemberShapes,
    input: { items: membersOf({ ...partMembers, ...stateItemShapes, role: {}, content: parts, output: parts, tools }) },
    tools,
    text: membersOf({ format: membersOf({ type: {} }) }),
    context_management: { items: membersOf({ type: {} }) },
  },
  indivisible: plainGatewayMembers,
};

const plainReading = { schema: responsesSchema, reading, refuseOtherCase };

export const readResponsesRequest = (json: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  orFault(() => check(json, reading));

function check(json: JsonText, { betas }: RequestReading): ClientRequest {
  const { raw, body: checked } = readPlainBody(json, plainReading);
  // Only the parts of the input are read later. A text has no parts, and would be in memory a second time.
  const body = typeof checked.input === 'string' ? { ...checked, input: undefined } : checked;
  refuseOwnReferences(body.input);
  if (body.background === true) {
    throw fail('invalid_request', { message: 'background: is not served', param: 'background' });
  }
  const isStored = body.store !== false;
  const providerState = providerStateIn(raw);
  const members = hubMembers(() => json, readHubNeeds);
  const isLong = json.text.length > repeatedMaxCharacters;
  return {
    interfaceId: 'responses',
    raw,
    text: () => json,
    ...readModels(body),
    stream: body.stream ?? false,
    isOutputOpen: (body.max_output_tokens ?? null) === null,
    provider: readProviderPreferences(body.provider ?? {}),
    // Content that a provider stores under an id may change, so its answer is not cached.
    cache: body.cache && isStored ? { ...body.cache, enabled: false } : (body.cache ?? undefined),
    preset: undefined,
    responseSchema: undefined,
    providerState,
    answerIs: isStored ? 'stored' : 'unnamed',
    promptMember: 'input',
    outputBoundMember: 'max_output_tokens',
    user: typeof raw.user === 'string' ? raw.user : undefined,
    needs: once(() => responseNeeds(body, { json, betas })),
    size: once(() => responseSize(body, json, providerState)),
    ...members,
    upstreamBody: (target) => upstreamBody(json, body, target),
    schemaCheck: undefined,
    writeAnswer: writeResponse,
    openStreamWriter: () =>
      openResponseWriter({
        model: String(raw.model ?? ''),
        settings: () => responseSettings(isLong ? {} : members.wholeBody()),
      }),
    async refusedStream(error, answer) {
      if (body.stream !== true || error.reason !== 'context_length_exceeded') return undefined;
      await members.readWholeBody();
      return refusedStream(members.wholeBody(), error, answer);
    },
  };
}

/**
 * Maximum length of a request whose settings are repeated in a stream that broke. A longer request is not parsed for
 * the settings.
 */
const repeatedMaxCharacters = 64 * 1024;

/** Returns the body for a provider. Providers of this interface store every response unless `store` is false. */
function upstreamBody(
  json: JsonText,
  { store, max_output_tokens: bound }: ResponsesBody,
  { model, zdr, defaultBound }: UpstreamTarget,
): UpstreamBody {
  const rewrite = withoutOwnItems(json);
  const changes = new Map<string, unknown>([...withoutGatewayMembers, ['model', model], ...rewrite.changes]);
  if (zdr && (store ?? null) === null) changes.set('store', false);
  if ((bound ?? null) === null && defaultBound !== undefined) changes.set('max_output_tokens', defaultBound.tokens);
  return { text: rewriteMembers(json, changes, 0, rewrite.replaced), leftOut: rewrite.leftOut };
}

// Finds the features that a Responses request needs from a candidate, and the fields that request them.

interface NeedsReading {
  readonly json: JsonText;
  /** The header with the requested betas. */
  readonly betas: string | undefined;
}

function responseNeeds(body: ResponsesBody, { json, betas }: NeedsReading): RequestNeeds {
  const { tools, stream, text } = body;
  const format = isJsonObject(text) && isJsonObject(text.format) ? text.format.type : undefined;
  const features: Feature[] = [];
  if ((tools ?? []).length > 0) features.push({ name: 'tools', member: 'tools' });
  const image = pathOfPart(body, imageTypes);
  if (image !== undefined) features.push({ name: 'vision', member: image });
  const audio = pathOfPart(body, audioTypes);
  if (audio !== undefined) features.push({ name: 'audio', member: audio });
  if (format === 'json_object') features.push({ name: 'json_mode', member: 'text.format' });
  if (stream === true) features.push({ name: 'streaming', member: 'stream' });
  features.push(...dearerFeatures(body, { usualTiers: openAiUsualTiers, betas }));
  // Only the provider knows the text, tools and other contents of a stored prompt.
  if ((body.prompt ?? null) !== null) features.push({ extra: 'prompt', member: 'prompt' });
  for (const { path, list } of toolListsOf(body)) features.push(...dearerTools(list, (index) => `${path}[${index}]`));
  return {
    features,
    schemaMember: format === 'json_schema' ? 'text.format' : undefined,
    storingMember: storingMemberOf(body),
    promptBytes: bytesOf(json, 'input') + bytesOf(json, 'instructions'),
  };
}

const audioTypes: ReadonlySet<unknown> = new Set(['input_audio']);

/**
 * Returns the field that makes the provider store its input. A conversation stores its items, whatever the value of
 * `store`.
 */
function storingMemberOf(body: ResponsesBody): string | undefined {
  if (body.store === true) return 'store';
  return (body.conversation ?? null) === null ? retentionMember(body) : 'conversation';
}

function pathOfPart({ input }: ResponsesBody, types: ReadonlySet<unknown>): string | undefined {
  for (const { path, part } of partsOf(input)) if (types.has(part.type)) return path;
  return undefined;
}

function bytesOf(json: JsonText, name: string): number {
  const member = findMember(json, name);
  return member === undefined ? 0 : Buffer.byteLength(json.slice(member));
}
