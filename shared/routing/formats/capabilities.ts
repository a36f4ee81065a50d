// Chooses the interface in which a candidate is called, by the features that each format supports. The translators are
// not imported here, because only a translated call needs them.
import {
  type Candidate,
  hasClientInterface,
  hubApisFor,
  isOpenAiReasoningModel,
  modelNames,
  openAiNames,
  plainModelName,
  thinksByDefault,
  thinksWithToolsInResponsesOnly,
} from '../../configuration/catalogue/index.ts';
import { type HubApi, type InterfaceId, servingApis } from '../../foundation/constants/index.ts';
import type { HubNeed, HubNeedKind, RoutedRequest } from '../../protocol/wire/index.ts';

/** Media types of files, or `true` for every value that a need of this kind can have. */
type Ability = true | ReadonlySet<string>;

const officeFiles = [
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];
const textFiles = ['text/plain', 'text/csv', 'text/html', 'text/markdown'];

/**
 * Lists the abilities of each format; a need that is not listed is unsupported. `data:` URLs work in every format. A
 * format without `image_url` or `file_url` accepts no other URLs.
 */
const abilities: Readonly<Record<HubApi, Readonly<Partial<Record<HubNeedKind, Ability>>>>> = {
  messages: {
    many_documents: true,
    many_stop_sequences: true,
    long_stop_sequences: true,
    effort_with_tools: true,
    tools_without_effort: true,
    forced_tool: true,
    image_url: true,
    file_url: true,
    file: new Set(['application/pdf', 'text/plain']),
  },
  converse: {
    dimensions: true,
    many_stop_sequences: true,
    long_stop_sequences: true,
    effort_with_tools: true,
    tools_without_effort: true,
    forced_tool: true,
    file: new Set(['application/pdf', ...textFiles, ...officeFiles]),
  },
  responses: {
    many_documents: true,
    effort_with_tools: true,
    tools_without_effort: true,
    forced_tool: true,
    image_url: true,
    file_url: true,
    file: new Set(['application/pdf', ...textFiles, ...officeFiles]),
  },
  'chat-completions': {
    many_documents: true,
    long_stop_sequences: true,
    tools_without_effort: true,
    forced_tool: true,
    image_url: true,
    // The package of chat completions supports no other file types.
    file: new Set(['application/pdf', ...textFiles]),
  },
  vertex: { dimensions: true },
  'generate-content': {
    dimensions: true,
    many_documents: true,
    many_stop_sequences: true,
    long_stop_sequences: true,
    effort_with_tools: true,
    tools_without_effort: true,
    forced_tool: true,
    image_url: true,
    file_url: true,
    file: true,
    audio_input: true,
  },
};

/** Matches models that think in every call, and refuse a forced tool call. */
const modelsWithoutForcedTools = /claude-(sonnet-5-5|opus-5-5|fable-5-[12])/;

/**
 * True if the model can be forced to call a tool. The names at the provider and in the catalogue decide, because the
 * name of an inference profile need not contain the model's name.
 */
export const supportsForcedTool = (candidate: Pick<Candidate, 'entry' | 'model'>): boolean =>
  !modelNames(candidate).some((name) => modelsWithoutForcedTools.test(plainModelName(name)));

function formatSupports(api: HubApi, { kind, value: mediaType = '' }: HubNeed): boolean {
  const ability = abilities[api][kind];
  return ability === true || ability?.has(mediaType) === true;
}

/** Matches Bedrock's embedding models that accept a number of dimensions, by the documentation of Bedrock's package. */
const bedrockDimensions = /titan-embed-text-v2|cohere.*embed-v([4-9]|\d\d)|nova.*embed/i;

const hasDimensions = (candidate: Candidate): boolean =>
  modelNames(candidate).some((name) => bedrockDimensions.test(name));

/** Patterns for the names of models that make images, as the format's package lists them. */
const imageModels: Readonly<Partial<Record<HubApi, RegExp>>> = {
  converse: /nova-canvas/i,
  'generate-content': /gemini-.*(image|nano-banana)/i,
};
/**
 * Patterns for the options that the image models support, as `field=value`. Gemini's package accepts an aspect ratio in
 * place of a size, and 1024x1024 is the only size that is exactly one of its ratios.
 */
const imageOptions: Readonly<Partial<Record<HubApi, RegExp>>> = {
  converse: /^(size=\d{3,4}x\d{3,4}|quality=(standard|premium))$/,
  'generate-content': /^size=1024x1024$/,
};

const supportsImageNeed = (candidate: Candidate, api: HubApi, { kind, value = '' }: HubNeed): boolean =>
  kind === 'image_model'
    ? modelNames(candidate).some((name) => imageModels[api]?.test(name) === true)
    : imageOptions[api]?.test(value) === true;

const isUnsupported = (candidate: Candidate, api: HubApi, need: HubNeed): boolean =>
  need.kind === 'image_model' || need.kind === 'image_option'
    ? !supportsImageNeed(candidate, api, need)
    : isFeatureUnsupported(candidate, api, need);

const isFeatureUnsupported = (candidate: Candidate, api: HubApi, need: HubNeed): boolean =>
  !formatSupports(api, need) ||
  (need.kind === 'forced_tool' && !supportsForcedTool(candidate)) ||
  (need.kind === 'dimensions' && api === 'converse' && !hasDimensions(candidate)) ||
  (need.kind === 'long_stop_sequences' && api === 'chat-completions' && !acceptsStopSequences(candidate));

/** True if the candidate accepts stop sequences; OpenAI's reasoning models do not. */
const acceptsStopSequences = (candidate: Candidate): boolean => !isOpenAiReasoningModel(...openAiNames(candidate));

export type CandidateFormat =
  /** The provider has the client's interface. */
  | { readonly kind: 'relay' }
  /**
   * The call is translated. A `task` (embedding, reranking, image) is answered in one piece, without a stream. If
   * `unsupportedNeeds` is not empty, the candidate is not called.
   */
  | { readonly kind: 'hub' | 'task'; readonly api: HubApi; readonly unsupportedNeeds: readonly HubNeed[] };

/**
 * True if the client's own interface cannot express a part of the request, and another interface of its provider
 * can.
 */
function canUseResponsesInstead(candidate: Candidate, interfaceId: InterfaceId): boolean {
  const serving = servingApis[interfaceId];
  return (
    'widerApi' in serving &&
    candidate.provider.apis.includes(serving.widerApi) &&
    thinksWithToolsInResponsesOnly(...openAiNames(candidate))
  );
}

const reasonsByDefault = (candidate: Candidate): boolean => thinksByDefault(...openAiNames(candidate));

/** True if the call might be translated. The choice of the format then needs the whole body, which has to be parsed. */
export const mayTranslateCandidate = (candidate: Candidate, interfaceId: InterfaceId): boolean =>
  hasClientInterface(candidate, interfaceId)
    ? canUseResponsesInstead(candidate, interfaceId)
    : hubApisFor(candidate, interfaceId).length > 0;

/**
 * Returns the format of the call. The client's own interface comes first, if the provider has it and it can express the
 * request; then the first format that supports every need. If none does, the call is relayed if the provider has the
 * client's interface, and gets the first format otherwise. Undefined if the provider has no format for this client.
 */
export function chooseFormat(
  candidate: Candidate,
  request: Pick<RoutedRequest, 'interfaceId' | 'hubNeeds'>,
): CandidateFormat | undefined {
  const { interfaceId, hubNeeds } = request;
  const isRelayable = hasClientInterface(candidate, interfaceId);
  const needsResponses = () =>
    canUseResponsesInstead(candidate, interfaceId) &&
    hubNeeds().some(
      ({ kind }) => kind === 'effort_with_tools' || (kind === 'tools_without_effort' && reasonsByDefault(candidate)),
    );
  if (isRelayable && !needsResponses()) return { kind: 'relay' };
  const kind = 'apisByKind' in servingApis[interfaceId] ? 'task' : 'hub';
  const formats = hubApisFor(candidate, interfaceId).map(
    (api) =>
      ({ kind, api, unsupportedNeeds: hubNeeds().filter((need) => isUnsupported(candidate, api, need)) }) as const,
  );
  return (
    formats.find((format) => format.unsupportedNeeds.length === 0) ?? (isRelayable ? { kind: 'relay' } : formats[0])
  );
}
