// Features of a chat completion that not every provider format can express.
import { type HubNeed, type HubNeedKind, isJsonObject, type JsonObject } from '../../wire/index.ts';
import { firstOfEachNeed, isWebUrl, neededStops, openAiUsualTiers, preparesCache } from '../index.ts';

export const readHubNeeds = (body: JsonObject): readonly HubNeed[] =>
  firstOfEachNeed([
    ...neededMembers(body),
    ...neededStops(body.stop, 'stop'),
    ...neededTools(body),
    ...neededChoice(body),
    ...neededEffort(body),
    ...neededParts(body.messages),
  ]);

const isSent = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

/** True for a number above `max`, and for a value that is not a number, which may have an effect too. */
const isAbove = (value: unknown, max: number): boolean =>
  (value ?? null) !== null && !(typeof value === 'number' && value <= max);

const formatTypes: readonly unknown[] = ['text', 'json_object', 'json_schema'];

function neededMembers(body: JsonObject): HubNeed[] {
  const format = isJsonObject(body.response_format) ? body.response_format.type : 'text';
  const needs: readonly (readonly [HubNeedKind, string, boolean])[] = [
    ['n', 'n', isAbove(body.n, 1)],
    ['best_of', 'best_of', isAbove(body.best_of, 1)],
    ['logprobs', 'logprobs', isSent(body.logprobs)],
    ['logprobs', 'top_logprobs', isAbove(body.top_logprobs, 0)],
    ['audio_output', 'modalities', Array.isArray(body.modalities) && body.modalities.includes('audio')],
    ['audio_output', 'audio', isJsonObject(body.audio)],
    ['response_format', 'response_format', !formatTypes.includes(format)],
    ['service_tier', 'service_tier', !openAiUsualTiers.includes(body.service_tier ?? 'auto')],
    ['web_search', 'web_search_options', isSent(body.web_search_options)],
    ['no_output', 'prompt_cache_options.prewarm', preparesCache(body.prompt_cache_options)],
    ['plugins', 'plugins', isSent(body.plugins) && !(Array.isArray(body.plugins) && body.plugins.length === 0)],
  ];
  return needs.flatMap(([kind, member, isAsked]) => (isAsked ? [{ kind, member }] : []));
}

/** Returns the needs of tools. A tool that is not a function is run by a provider, or has input that is not JSON. */
function neededTools({ tools, functions }: JsonObject): HubNeed[] {
  const legacy: HubNeed[] =
    Array.isArray(functions) && functions.length > 0 ? [{ kind: 'tools', member: 'functions' }] : [];
  const listed = (Array.isArray(tools) ? tools : []).flatMap((tool, index): HubNeed[] =>
    isJsonObject(tool) && tool.type === 'function' ? [] : [{ kind: 'tools', member: `tools[${index}]` }],
  );
  return [...legacy, ...listed];
}

/** Supported values of `tool_choice`, and types of its objects. */
const toolChoices: ReadonlySet<unknown> = new Set([
  ...['none', 'auto', 'required'],
  ...['function', 'custom', 'allowed_tools'],
]);

/** Returns the need for a forced call, which the model would not make by itself; an unknown choice may force a call. */
function neededChoice({ tools, tool_choice: choice }: JsonObject): HubNeed[] {
  if (!Array.isArray(tools) || tools.length === 0) return [];
  const { type, mode, allowed_tools: allowed } = isJsonObject(choice) ? choice : {};
  if (isSent(choice) && !toolChoices.has(isJsonObject(choice) ? type : choice))
    return [{ kind: 'tools', member: 'tool_choice' }];
  const allowedMode = isJsonObject(allowed) ? allowed.mode : mode;
  const isForced =
    choice === 'required' || type === 'function' || (type === 'allowed_tools' && allowedMode === 'required');
  return isForced ? [{ kind: 'forced_tool', member: 'tool_choice' }] : [];
}

/** Returns the need for an effort together with tools, because some models accept both only on another interface. */
function neededEffort({ tools, reasoning, reasoning_effort: effort }: JsonObject): HubNeed[] {
  if (!Array.isArray(tools) || tools.length === 0) return [];
  const { effort: nestedEffort, max_tokens: tokens, enabled } = isJsonObject(reasoning) ? reasoning : {};
  const isAsked = [effort, nestedEffort].some((one) => typeof one === 'string' && one !== 'none');
  const member = typeof effort === 'string' ? 'reasoning_effort' : 'reasoning';
  if (isAsked || enabled === true || isAbove(tokens, 0)) return [{ kind: 'effort_with_tools', member }];
  const isKnown = [effort, nestedEffort, enabled, tokens].some((one) => (one ?? null) !== null);
  return isKnown ? [] : [{ kind: 'tools_without_effort', member: 'tools' }];
}

const neededParts = (messages: unknown): HubNeed[] =>
  (Array.isArray(messages) ? messages : []).flatMap((message, index): HubNeed[] => {
    const { role, content, audio, function_call: calledFunction } = isJsonObject(message) ? message : {};
    const member = `messages[${index}]`;
    if (role === 'function' || isJsonObject(calledFunction)) return [{ kind: 'tools', member }];
    if (!chatRoles.has(role)) return [{ kind: 'content_part', member: `${member}.role` }];
    const answer: HubNeed[] = isJsonObject(audio) ? [{ kind: 'audio_id', member: `${member}.audio` }] : [];
    const parts = (Array.isArray(content) ? content : []).flatMap((part, place): HubNeed[] => {
      const need = neededPart(part, role);
      return need === undefined ? [] : [{ ...need, member: `${member}.content[${place}]` }];
    });
    return [...answer, ...parts];
  });

const chatRoles: ReadonlySet<unknown> = new Set([...['system', 'developer', 'user', 'assistant', 'tool', 'function']]);

/** Roles whose content is text in every format: instructions and answers. */
const textRoles: readonly unknown[] = ['system', 'developer', 'assistant'];

function neededPart(part: unknown, role: unknown): Omit<HubNeed, 'member'> | undefined {
  const { type, image_url: image, file } = isJsonObject(part) ? part : {};
  if (type === 'text' || type === 'refusal') return undefined;
  // Some vendors write thinking as this part, which no other model gets.
  if (role === 'assistant' && type === 'thinking') return undefined;
  if (textRoles.includes(role)) return { kind: 'content_part' };
  if (type === 'image_url' || type === 'input_image') {
    const url = isJsonObject(image) ? image.url : image;
    if (isDataUrl(url)) return undefined;
    return { kind: isWebUrl(url) ? 'image_url' : 'image' };
  }
  if (type === 'input_audio') return { kind: role === 'user' ? 'audio_input' : 'content_part' };
  if (type === 'file') return neededFile(isJsonObject(file) ? file.file_data : undefined);
  return { kind: 'content_part' };
}

/** True for a data URL with data after its head, which is short. */
const isDataUrl = (url: unknown): url is string => typeof url === 'string' && /^data:[^,]{0,1000},/i.test(url);

/** Returns the need for a file, because a file stored under an id is known only to its provider. */
function neededFile(url: unknown): Omit<HubNeed, 'member'> {
  if (!isDataUrl(url)) return { kind: isWebUrl(url) ? 'file_url' : 'file_id' };
  return { kind: 'file', value: /^data:([^;,]*)/i.exec(url.slice(0, 256))?.[1]?.toLowerCase() ?? '' };
}
