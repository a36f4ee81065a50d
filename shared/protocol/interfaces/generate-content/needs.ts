// Lists the needs of a call of generateContent.
import type { Extra } from '../../../foundation/constants/index.ts';
import {
  type CallSize,
  type Feature,
  type HubNeed,
  isJsonObject,
  type JsonObject,
  type RequestNeeds,
} from '../../wire/index.ts';
import { firstOfEachNeed, isWebUrl, neededStops } from '../index.ts';
import {
  callingConfigOf,
  fileOf,
  functionsOf,
  generationConfigOf,
  inlineDataOf,
  type PlacedPart,
  partKinds,
  partsOf,
  ranByProvider,
} from './parts.ts';

const roles: ReadonlySet<unknown> = new Set(['user', 'model', 'function', undefined, null, '']);
const callingModes: ReadonlySet<unknown> = new Set(['AUTO', 'ANY', 'NONE', 'VALIDATED', 'MODE_UNSPECIFIED', undefined]);
const plainTypes: ReadonlySet<unknown> = new Set(['text/plain', 'application/json', undefined, null, '']);

const config = 'generationConfig';

export const readHubNeeds = (body: JsonObject): readonly HubNeed[] =>
  firstOfEachNeed([
    ...neededSettings(body),
    ...neededStops(generationConfigOf(body).stopSequences, `${config}.stopSequences`),
    ...neededChoice(body),
    ...[...partsOf(body)].flatMap(neededPart),
    ...neededRoles(body.contents),
  ]);

const isAbove = (value: unknown, max: number): boolean =>
  (value ?? null) !== null && !(typeof value === 'number' && value <= max);

function neededSettings(body: JsonObject): HubNeed[] {
  const settings = generationConfigOf(body);
  const modalities: readonly unknown[] = Array.isArray(settings.responseModalities) ? settings.responseModalities : [];
  const needs: readonly (readonly [HubNeed['kind'], string, boolean])[] = [
    ['stored_prompt', 'cachedContent', (body.cachedContent ?? '') !== ''],
    // The field requests the rest of an answer that Google has started.
    ['stored_prompt', 'continuationToken', (body.continuationToken ?? '') !== ''],
    ['n', `${config}.candidateCount`, isAbove(settings.candidateCount, 1)],
    ['logprobs', `${config}.responseLogprobs`, settings.responseLogprobs === true],
    ['logprobs', `${config}.logprobs`, isAbove(settings.logprobs, 0)],
    ['audio_output', `${config}.responseModalities`, modalities.includes('AUDIO')],
    ['response_format', `${config}.responseModalities`, modalities.some((one) => one !== 'TEXT' && one !== 'AUDIO')],
    ['response_format', `${config}.responseMimeType`, !plainTypes.has(settings.responseMimeType)],
  ];
  return needs.flatMap(([kind, member, isNeeded]) => (isNeeded ? [{ kind, member }] : []));
}

function neededChoice(body: JsonObject): HubNeed[] {
  const { mode } = callingConfigOf(body);
  const member = 'toolConfig.functionCallingConfig';
  if (!callingModes.has(mode)) return [{ kind: 'tools', member: `${member}.mode` }];
  if (mode !== 'ANY') return [];
  // Google's own tools are dropped. For a forced call there would then be no tool to call.
  return [{ kind: functionsOf(body.tools).length > 0 ? 'forced_tool' : 'tools', member }];
}

/** Returns the need for an unknown role, which decides the effect of a content. */
const neededRoles = (contents: unknown): HubNeed[] =>
  (Array.isArray(contents) ? contents : []).flatMap((content, at): HubNeed[] =>
    isJsonObject(content) && !roles.has(content.role) ? [{ kind: 'unknown_role', member: `contents[${at}].role` }] : [],
  );

function neededPart({ part, path: member }: PlacedPart): HubNeed[] {
  const inline = inlineDataOf(part);
  if (inline !== undefined) return neededType(inline.mimeType, `${member}.inlineData`);
  const file = fileOf(part);
  if (file !== undefined) {
    if (!isWebUrl(file.uri) || googleFile.test(file.uri)) return [{ kind: 'file_id', member: `${member}.fileData` }];
    return [{ kind: file.mimeType.startsWith('image/') ? 'image_url' : 'file_url', member: `${member}.fileData` }];
  }
  const isKnown = [...partKinds, ...ranByProvider, 'thoughtSignature'].some((kind) => part[kind] !== undefined);
  return isKnown ? [] : [{ kind: 'content_part', member }];
}

const googleFile = /^https:\/\/generativelanguage\.googleapis\.com\//i;

function neededType(mimeType: string, member: string): HubNeed[] {
  if (mimeType.startsWith('image/')) return [];
  if (mimeType.startsWith('audio/')) return [{ kind: 'audio_input', member }];
  return [{ kind: 'file', member, value: mimeType }];
}

/** Extras of tools that the provider runs. The client runs `computerUse`, which costs only tokens. */
const extraOfTool: Readonly<Record<string, Extra | undefined>> = {
  functionDeclarations: undefined,
  computerUse: undefined,
  googleSearch: 'web_search',
  googleSearchRetrieval: 'web_search',
  enterpriseWebSearch: 'web_search',
  urlContext: 'web_fetch',
  codeExecution: 'code_execution',
  fileSearch: 'file_search',
  retrieval: 'file_search',
  mcpServers: 'mcp',
};

interface ProviderTool {
  readonly name: string;
  readonly member: string;
}

/** Yields the fields of the tools other than functions. */
export function* otherTools(tools: unknown): Generator<ProviderTool> {
  for (const [at, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    for (const [name, value] of Object.entries(isJsonObject(tool) ? tool : {})) {
      if (name !== 'functionDeclarations' && (value ?? null) !== null) yield { name, member: `tools[${at}].${name}` };
    }
  }
}

const usualTiers: ReadonlySet<unknown> = new Set([undefined, null, '', 'standard', 'flex', 'STANDARD', 'FLEX']);

function dearerFeatures(body: JsonObject): Feature[] {
  const extras = new Map<Extra, string>();
  for (const { name, member } of otherTools(body.tools)) {
    const extra = Object.hasOwn(extraOfTool, name) ? extraOfTool[name] : 'other_tools';
    if (extra !== undefined && !extras.has(extra)) extras.set(extra, member);
  }
  if (!usualTiers.has(body.serviceTier)) extras.set('service_tier', 'serviceTier');
  return [...extras].map(([extra, member]) => ({ extra, member }));
}

/** Returns the needs. `stream` is the delivery that the path requests. */
export function readNeeds(
  body: JsonObject,
  stream: boolean,
  { textBytes, contexts }: Pick<CallSize, 'textBytes' | 'contexts'>,
): RequestNeeds {
  const image = firstOf(body, ({ part }) => inlineDataOf(part)?.mimeType.startsWith('image/') === true);
  const audio = firstOf(body, ({ part }) => inlineDataOf(part)?.mimeType.startsWith('audio/') === true);
  const features: Feature[] = [
    ...(functionsOf(body.tools).length > 0 ? [{ name: 'tools', member: 'tools' } as const] : []),
    ...(image === undefined ? [] : [{ name: 'vision', member: image } as const]),
    ...(audio === undefined ? [] : [{ name: 'audio', member: audio } as const]),
    ...(stream ? [{ name: 'streaming', member: 'streamGenerateContent' } as const] : []),
    ...dearerFeatures(body),
  ];
  const settings = generationConfigOf(body);
  const isJson = settings.responseMimeType === 'application/json';
  const schema = ['responseSchema', 'responseJsonSchema'].find((name) => isJsonObject(settings[name]));
  if (schema === undefined && isJson) features.push({ name: 'json_mode', member: `${config}.responseMimeType` });
  return {
    features,
    schemaMember: schema === undefined ? undefined : `${config}.${schema}`,
    storingMember: undefined,
    promptBytes: textBytes / contexts,
  };
}

function firstOf(body: JsonObject, isMeant: (placed: PlacedPart) => boolean): string | undefined {
  for (const placed of partsOf(body)) if (isMeant(placed)) return placed.path;
  return undefined;
}
