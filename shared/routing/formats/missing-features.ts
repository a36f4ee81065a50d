// What a request asks for that cannot be said in a format: the candidate is passed over. Pure, and loads no translator.
import { apiFor, type Candidate, isOwnApi } from '../../configuration/catalogue/index.ts';
import type { ProviderApi } from '../../foundation/constants/index.ts';
import { isJsonObject, parseJson, type RoutedRequest } from '../../protocol/wire/index.ts';
import type { TranslatedApi } from './translated/index.ts';

export type MissingFeatureName =
  | 'n'
  | 'logprobs'
  | 'audio_input'
  | 'audio_output'
  | 'image_url'
  | 'file'
  | 'content_part'
  | 'tools'
  | 'response_format'
  | 'service_tier'
  | 'web_search'
  | 'plugins'
  | 'best_of';

/** A feature that the format has no words for, and the member of the request that asks for it. */
export interface MissingFeature {
  readonly name: MissingFeatureName;
  readonly member: string;
}

/** `data:` goes everywhere. A target that takes only bytes would have to be sent what the gateway downloads. */
const takesUrls: Readonly<Record<TranslatedApi, boolean>> = {
  messages: true,
  converse: false,
  'generate-content': true,
};

/** Media types of files that a format knows. Undefined: any. */
const fileTypes: Readonly<Record<TranslatedApi, ReadonlySet<string> | undefined>> = {
  messages: new Set(['application/pdf', 'text/plain']),
  converse: new Set([
    'application/pdf',
    'text/plain',
    'text/csv',
    'text/html',
    'text/markdown',
    'application/msword',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    'application/vnd.ms-excel',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ]),
  'generate-content': undefined,
};

export const isTranslated = (api: ProviderApi | undefined): api is TranslatedApi =>
  api !== undefined && Object.hasOwn(takesUrls, api);

type Body = Readonly<Record<string, unknown>>;

/** What of the request a candidate cannot be told, because of the format that its provider speaks. Looks once for each format. */
export function featuresMissing(request: RoutedRequest): (candidate: Candidate) => readonly MissingFeature[] {
  let body: Body | undefined;
  const known = new Map<TranslatedApi, readonly MissingFeature[]>();
  return (candidate) => {
    const api = apiFor(candidate, request.interfaceId);
    if (!isTranslated(api) || isOwnApi(request.interfaceId, api)) return [];
    body ??= parseJson(request.text().text) as Body;
    const missing = known.get(api) ?? missingFeatures(body, api);
    known.set(api, missing);
    return missing;
  };
}

export const missingFeatures = (body: Body, api: TranslatedApi): MissingFeature[] =>
  firstOfEachName([...missingMembers(body), ...missingTools(body), ...missingParts(body.messages, api)]);

/** A request may ask for the same thing a hundred thousand times: one place of it says enough. */
export function firstOfEachName(features: readonly MissingFeature[]): MissingFeature[] {
  const first = new Map<MissingFeatureName, MissingFeature>();
  for (const feature of features) if (!first.has(feature.name)) first.set(feature.name, feature);
  return [...first.values()];
}

const isSent = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** What is no number asks for something too. */
const isAbove = (value: unknown, max: number): boolean =>
  (value ?? null) !== null && !(typeof value === 'number' && value <= max);

const formatTypes: readonly unknown[] = ['text', 'json_object', 'json_schema'];
const usualTiers: readonly unknown[] = ['auto', 'default', 'flex'];

function missingMembers(body: Body): MissingFeature[] {
  const format = isJsonObject(body.response_format) ? body.response_format.type : 'text';
  const asked: readonly (readonly [MissingFeatureName, string, boolean])[] = [
    ['n', 'n', isAbove(body.n, 1)],
    ['best_of', 'best_of', isAbove(body.best_of, 1)],
    ['logprobs', 'logprobs', isSent(body.logprobs)],
    ['logprobs', 'top_logprobs', isAbove(body.top_logprobs, 0)],
    ['audio_output', 'modalities', Array.isArray(body.modalities) && body.modalities.includes('audio')],
    ['audio_output', 'audio', isJsonObject(body.audio)],
    ['response_format', 'response_format', !formatTypes.includes(format)],
    ['service_tier', 'service_tier', !usualTiers.includes(body.service_tier ?? 'auto')],
    ['web_search', 'web_search_options', isSent(body.web_search_options)],
    ['plugins', 'plugins', isSent(body.plugins) && !(Array.isArray(body.plugins) && body.plugins.length === 0)],
  ];
  return asked.flatMap(([name, member, isAsked]) => (isAsked ? [{ name, member }] : []));
}

/** Functions only: a tool of another type is one that a provider runs, or one whose input is no JSON. */
function missingTools({ tools, functions }: Body): MissingFeature[] {
  const legacy =
    Array.isArray(functions) && functions.length > 0 ? [{ name: 'tools' as const, member: 'functions' }] : [];
  const listed = (Array.isArray(tools) ? tools : []).flatMap((tool, index) =>
    isJsonObject(tool) && tool.type === 'function' ? [] : [{ name: 'tools' as const, member: `tools[${index}]` }],
  );
  return [...legacy, ...listed];
}

const missingParts = (messages: unknown, api: TranslatedApi): MissingFeature[] =>
  (Array.isArray(messages) ? messages : []).flatMap((message, index) => {
    const { role, content, audio } = isJsonObject(message) ? message : {};
    const member = `messages[${index}]`;
    if (role === 'function') return [{ name: 'tools' as const, member }];
    const answer = isJsonObject(audio) ? [{ name: 'audio_input' as const, member: `${member}.audio` }] : [];
    const parts = (Array.isArray(content) ? content : []).flatMap((part, place) => {
      const name = missingPart(part, api, role);
      return name === undefined ? [] : [{ name, member: `${member}.content[${place}]` }];
    });
    return [...answer, ...parts];
  });

/** Instructions and answers are text in every format. */
const textRoles: readonly unknown[] = ['system', 'developer', 'assistant'];

function missingPart(part: unknown, api: TranslatedApi, role: unknown): MissingFeatureName | undefined {
  const { type, image_url: image, file } = isJsonObject(part) ? part : {};
  if (type === 'text' || type === 'refusal') return undefined;
  if (textRoles.includes(role)) return 'content_part';
  if (type === 'image_url' || type === 'input_image') {
    return canSend(isJsonObject(image) ? image.url : image, api) ? undefined : 'image_url';
  }
  if (type === 'input_audio') return api === 'generate-content' && role === 'user' ? undefined : 'audio_input';
  if (type === 'file') return isJsonObject(file) && canSendFile(file, api) ? undefined : 'file';
  return 'content_part';
}

function canSend(url: unknown, api: TranslatedApi): boolean {
  if (typeof url !== 'string') return false;
  return isDataUrl(url) || (takesUrls[api] && /^https?:\/\//i.test(url) && URL.canParse(url));
}

/** With data behind its head, which is short. */
const isDataUrl = (url: string): boolean => /^data:[^,]{0,1000},/i.test(url);

/** A file that a provider keeps under an id is known to that provider only. */
function canSendFile({ file_data: data }: Record<string, unknown>, api: TranslatedApi): boolean {
  if (typeof data !== 'string') return false;
  if (!isDataUrl(data)) return canSend(data, api);
  const mediaType = /^data:([^;,]*)/i.exec(data.slice(0, 256))?.[1]?.toLowerCase() ?? '';
  return fileTypes[api]?.has(mediaType) ?? true;
}
