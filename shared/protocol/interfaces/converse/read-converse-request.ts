// Reads a Converse request. The reader is strict in the fields that the gateway reads, and indifferent to the rest. The
// path determines the model and the delivery.
import type { GatewayError } from '../../../errors/index.ts';
import { once } from '../../../foundation/cache/index.ts';
import { frameStreamType } from '../../../foundation/constants/index.ts';
import { frameText } from '../../event-frames/index.ts';
import {
  type AnswerEvent,
  type JsonText,
  presence,
  readProviderPreferences,
  rewriteMembers,
  type Shape,
  type UpstreamTarget,
} from '../../wire/index.ts';
import {
  type CallPath,
  type ClientRequest,
  hubMembers,
  membersOf,
  orFault,
  otherCaseCheck,
  plainGatewayMembers,
  type RequestReading,
  readModels,
  readPlainBody,
  type StreamWriter,
  surchargeFields,
  toolShape,
  withCostHeader,
  withDefaultBound,
  withoutGatewayMembers,
} from '../index.ts';
import { filesInBuckets, mediaOf } from './converse-media.ts';
import { readHubNeeds, readNeeds } from './converse-needs.ts';
import { type ConverseMembers, converseSchema } from './converse-request.ts';
import { callSizeOf } from './converse-size.ts';
import { brokenStreamException } from './exceptions.ts';
import { withoutForeignThinking } from './foreign-thinking.ts';

const usedNames = [...new Set([...Object.keys(converseSchema.shape), ...plainGatewayMembers])];
const refuseOtherCase = otherCaseCheck(usedNames);

const media = membersOf({
  format: {},
  source: membersOf({ bytes: {}, s3Location: membersOf({ uri: {} }), text: presence, content: { items: {} } }),
});
const plainBlocks: Readonly<Record<string, Shape>> = {
  ...{ text: presence, json: presence, reasoningContent: presence, citationsContent: presence, searchResult: presence },
  ...{ toolUse: presence, cachePoint: presence, guardContent: membersOf({ text: presence, image: media }) },
  ...{ image: media, document: media, video: media, audio: media },
};
const blocks: Shape = {
  items: membersOf({ ...plainBlocks, toolResult: membersOf({ content: { items: membersOf(plainBlocks) } }) }),
};
const makerShape = membersOf({
  ...Object.fromEntries(surchargeFields.map((name) => [name, {}])),
  ...{ anthropic_beta: { items: {} }, tools: { items: toolShape } },
});

export const conversationShapes: Readonly<Record<string, Shape>> = {
  messages: { items: membersOf({ role: {}, content: blocks }) },
  system: blocks,
  toolConfig: membersOf({
    tools: {
      items: membersOf({
        toolSpec: membersOf({ name: {} }),
        systemTool: membersOf({ name: {} }),
        cachePoint: presence,
      }),
    },
    toolChoice: membersOf({ auto: presence, any: presence, tool: membersOf({ name: {} }) }),
  }),
  additionalModelRequestFields: makerShape,
};

const plainReading = {
  schema: converseSchema,
  reading: { names: new Set(usedNames), shapes: conversationShapes, indivisible: plainGatewayMembers },
  refuseOtherCase,
};

export const readConverseRequest = (json: JsonText, reading: RequestReading): ClientRequest | GatewayError =>
  orFault(() => read(json, reading));

const streamOperation = 'converse-stream';

function read(json: JsonText, { path }: RequestReading): ClientRequest {
  const { raw, body } = readPlainBody(json, plainReading);
  const { maxTokens } = body.inferenceConfig ?? {};
  const members: ConverseMembers = {
    interfaceId: 'converse',
    path,
    namesModelsOf: 'bedrock',
    raw,
    text: () => json,
    ...modelsOf(path, body.models),
    stream: path?.operation === streamOperation,
    streamForm,
    maxOutputTokens: maxTokens ?? undefined,
    isOutputOpen: (maxTokens ?? null) === null,
    provider: readProviderPreferences(body.provider ?? {}),
    cache: body.cache ?? undefined,
    preset: undefined,
    responseSchema: undefined,
    providerState: filesInBuckets(raw.messages),
    answerIs: 'unnamed',
    promptMember: 'messages',
    outputBoundMember: 'inferenceConfig.maxTokens',
    user: undefined,
  };
  // The media are measured together with the size, because the media of a long body are dropped then.
  const media = once(() => mediaOf(raw.messages));
  const size = once(() => callSizeOf(members, media()));
  return {
    ...members,
    needs: once(() => readNeeds(members, size())),
    size,
    ...hubMembers(() => json, readHubNeeds),
    upstreamBody: (target) => upstreamBody(json, target),
    schemaCheck: undefined,
    writeAnswer: withCostHeader,
    openStreamWriter: openFrameWriter,
  };
}

/** Returns the models: the model of the path, followed by `models` of the body. */
export function modelsOf(path: CallPath | undefined, models: readonly string[] | null | undefined) {
  const modelsRead = readModels({ model: path?.model, models });
  return {
    ...modelsRead,
    memberOfModel: (id: string) => (id === path?.model ? 'modelId' : modelsRead.memberOfModel(id)),
  };
}

function upstreamBody(json: JsonText, { defaultBound }: UpstreamTarget) {
  const { changes, leftOut } = withoutForeignThinking(json);
  const bounded = defaultBound && withDefaultBound(json, 'inferenceConfig', 'maxTokens', defaultBound.tokens);
  const more = bounded === undefined ? [] : ([['inferenceConfig', bounded]] as const);
  return { text: rewriteMembers(json, new Map([...withoutGatewayMembers, ...changes, ...more])), leftOut };
}

/** A keep-alive, which is an event of a type that the service does not have, so that its clients skip the event. */
const signOfLife = frameText({ name: 'ping', text: '{}' });

const streamForm = { contentType: frameStreamType, keepAlive: signOfLife };

const openFrameWriter = (): StreamWriter => ({
  event: ({ name, text }: AnswerEvent) => frameText({ name, text }),
  // The provider's own end is the last event.
  beforeEnd: () => '',
  end: '',
  broken: (code, message) => frameText(brokenStreamException(code, message)),
});
