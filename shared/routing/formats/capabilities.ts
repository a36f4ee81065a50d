// Chooses the interface in which a candidate is called, by the features that each format supports. It loads no
// translator.
import {
  type Candidate,
  hubApisFor,
  isOpenAiThinker,
  modelNames,
  openAiNames,
  plainModelName,
  speaksOwn,
  thinksUnasked,
  thinksWithToolsOnResponsesOnly,
} from '../../configuration/catalogue/index.ts';
import { type HubApi, type InterfaceId, servingApis } from '../../foundation/constants/index.ts';
import type { HubNeed, HubNeedKind, RoutedRequest } from '../../protocol/wire/index.ts';

/** Media types of files, or `true` for everything that a need of this kind can ask for. */
type Ability = true | ReadonlySet<string>;

const officeFiles = [
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.ms-excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];
const textFiles = ['text/plain', 'text/csv', 'text/html', 'text/markdown'];

/**
 * Abilities by format; a need that is not listed is unsupported. `data:` works everywhere; a format without URLs
 * accepts only bytes.
 */
const abilities: Readonly<Record<HubApi, Readonly<Partial<Record<HubNeedKind, Ability>>>>> = {
  messages: {
    many_documents: true,
    many_stops: true,
    long_stops: true,
    effort_with_tools: true,
    tools_without_effort: true,
    forced_tool: true,
    image_url: true,
    file_url: true,
    file: new Set(['application/pdf', 'text/plain']),
  },
  converse: {
    dimensions: true,
    many_stops: true,
    long_stops: true,
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
  // These are the only file types that its package supports.
  'chat-completions': {
    many_documents: true,
    long_stops: true,
    tools_without_effort: true,
    forced_tool: true,
    image_url: true,
    file: new Set(['application/pdf', ...textFiles]),
  },
  vertex: { dimensions: true },
  'generate-content': {
    dimensions: true,
    many_documents: true,
    many_stops: true,
    long_stops: true,
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
const unforceable = /claude-(sonnet-5-5|opus-5-5|fable-5-[12])/;

/**
 * True if the model can be forced to call a tool. The provider's and the catalogue's names decide, because the name
 * of a host's profile does not show its model.
 */
export const canBeForced = (candidate: Pick<Candidate, 'entry' | 'model'>): boolean =>
  !modelNames(candidate).some((name) => unforceable.test(plainModelName(name)));

function can(api: HubApi, { kind, mediaType = '' }: HubNeed): boolean {
  const ability = abilities[api][kind];
  return ability === true || ability?.has(mediaType) === true;
}

/** Matches Bedrock's models with vectors of several lengths, from its package's documentation. */
const bedrockDimensions = /titan-embed-text-v2|cohere.*embed-v([4-9]|\d\d)|nova.*embed/i;

const hasDimensions = (candidate: Candidate): boolean =>
  modelNames(candidate).some((name) => bedrockDimensions.test(name));

/** Match models that make images, by the names in their packages. */
const imageModels: Readonly<Partial<Record<HubApi, RegExp>>> = {
  converse: /nova-canvas/i,
  'generate-content': /gemini-.*(image|nano-banana)/i,
};
/**
 * Match options of images that they support, as `field=value`. Gemini's package accepts proportions, and only one size
 * matches them exactly.
 */
const imageOptions: Readonly<Partial<Record<HubApi, RegExp>>> = {
  converse: /^(size=\d{3,4}x\d{3,4}|quality=(standard|premium))$/,
  'generate-content': /^size=1024x1024$/,
};

const canDraw = (candidate: Candidate, api: HubApi, { kind, mediaType = '' }: HubNeed): boolean =>
  kind === 'image_model'
    ? modelNames(candidate).some((name) => imageModels[api]?.test(name) === true)
    : imageOptions[api]?.test(mediaType) === true;

const lacks = (candidate: Candidate, api: HubApi, need: HubNeed): boolean =>
  need.kind === 'image_model' || need.kind === 'image_option'
    ? !canDraw(candidate, api, need)
    : lacksFeature(candidate, api, need);

const lacksFeature = (candidate: Candidate, api: HubApi, need: HubNeed): boolean =>
  !can(api, need) ||
  (need.kind === 'forced_tool' && !canBeForced(candidate)) ||
  (need.kind === 'dimensions' && api === 'converse' && !hasDimensions(candidate)) ||
  (need.kind === 'long_stops' && api === 'chat-completions' && !takesStops(candidate));

/** True if the candidate accepts stops; OpenAI's models with thinking do not. */
const takesStops = (candidate: Candidate): boolean => !isOpenAiThinker(...openAiNames(candidate));

export type CandidateFormat =
  /** The provider has the client's interface. */
  | { readonly kind: 'relay' }
  /**
   * `task` is served by a model of a package that answers whole. `lacks` names unsupported features, with any of which
   * the candidate is not called.
   */
  | { readonly kind: 'hub' | 'task'; readonly api: HubApi; readonly lacks: readonly HubNeed[] };

/**
 * True if the client's own interface cannot express a part of the request, and another interface of its provider
 * can.
 */
function canUseResponsesInstead(candidate: Candidate, interfaceId: InterfaceId): boolean {
  const serving = servingApis[interfaceId];
  return (
    'wider' in serving &&
    candidate.provider.apis.includes(serving.wider) &&
    thinksWithToolsOnResponsesOnly(...openAiNames(candidate))
  );
}

const thinksByItself = (candidate: Candidate): boolean => thinksUnasked(...openAiNames(candidate));

/** True if the format depends on the whole body. */
export const mayGoThroughHub = (candidate: Candidate, interfaceId: InterfaceId): boolean =>
  speaksOwn(candidate, interfaceId)
    ? canUseResponsesInstead(candidate, interfaceId)
    : hubApisFor(candidate, interfaceId).length > 0;

/**
 * Chooses the client's own interface if its provider has it and it supports the request; otherwise the first format
 * that supports everything, or else the first. Undefined when its provider serves no such client.
 */
export function chooseFormat(
  candidate: Candidate,
  request: Pick<RoutedRequest, 'interfaceId' | 'hubNeeds'>,
): CandidateFormat | undefined {
  const { interfaceId, hubNeeds } = request;
  const isOwn = speaksOwn(candidate, interfaceId);
  const isTooNarrow = () =>
    hubNeeds().some(
      ({ kind }) => kind === 'effort_with_tools' || (kind === 'tools_without_effort' && thinksByItself(candidate)),
    );
  if (isOwn && !(canUseResponsesInstead(candidate, interfaceId) && isTooNarrow())) return { kind: 'relay' };
  const kind = 'ofKinds' in servingApis[interfaceId] ? 'task' : 'hub';
  const ways = hubApisFor(candidate, interfaceId).map(
    (api) => ({ kind, api, lacks: hubNeeds().filter((need) => lacks(candidate, api, need)) }) as const,
  );
  return ways.find((way) => way.lacks.length === 0) ?? (isOwn ? { kind: 'relay' } : ways[0]);
}
