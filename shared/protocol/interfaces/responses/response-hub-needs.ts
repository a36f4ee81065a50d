// Features of a Responses request that not every provider format can express.
import { type HubNeed, type HubNeedKind, isJsonObject, type JsonObject } from '../../wire/index.ts';
import { firstOfEachNeed, isWebUrl, preparesCache } from '../index.ts';
import { declaredTools, toolMatcher } from './declared-tools.ts';
import { itemRoles, itemUse } from './item-types.ts';

export const readHubNeeds = (body: JsonObject): readonly HubNeed[] =>
  firstOfEachNeed([...neededState(body), ...neededMembers(body), ...neededChoice(body), ...inItems(body.input)]);

const isSent = (value: unknown): boolean => (value ?? null) !== null;

/** Fields of state that exists only at the provider that stores it. */
const stateMembers = {
  previous_response_id: 'previous_response',
  conversation: 'conversation',
  prompt: 'stored_prompt',
} as const;

const neededState = (body: JsonObject): HubNeed[] =>
  Object.entries(stateMembers).flatMap(([member, kind]) => (isSent(body[member]) ? [{ kind, member }] : []));

const formatTypes: readonly unknown[] = ['text', 'json_schema', 'json_object'];

function neededMembers({ text, top_logprobs: logprobs, include, ...body }: JsonObject): HubNeed[] {
  const format = isJsonObject(text) && isJsonObject(text.format) ? text.format.type : 'text';
  const includes = Array.isArray(include) ? include : [];
  const needs: readonly (readonly [HubNeedKind, string, boolean])[] = [
    ['response_format', 'text.format', !formatTypes.includes(format)],
    ['logprobs', 'top_logprobs', isSent(logprobs) && logprobs !== 0],
    ['no_output', 'generate', body.generate === false],
    ['no_output', 'prompt_cache_options.prewarm', preparesCache(body.prompt_cache_options)],
    ['logprobs', 'include', includes.includes('message.output_text.logprobs')],
  ];
  return needs.flatMap(([kind, member, isAsked]) => (isAsked ? [{ kind, member }] : []));
}

const toolChoiceWords: ReadonlySet<unknown> = new Set(['auto', 'none', 'required']);

/**
 * Returns the need for a forced call of a provider's own tool. This tool is dropped if it is optional, and then there
 * would be no tool to call.
 */
function neededChoice(body: JsonObject): HubNeed[] {
  const { tool_choice: choice } = body;
  const { type, mode, tools: allowed } = isJsonObject(choice) ? choice : {};
  const isAllowed = type === 'allowed_tools';
  const isNew = isSent(choice) && !isJsonObject(choice) && !toolChoiceWords.has(choice);
  const isForced = choice === 'required' || isNew || (isJsonObject(choice) && (!isAllowed || mode === 'required'));
  if (!isForced) return [];
  if (isNew) return [{ kind: 'tools', member: 'tool_choice' }];
  const declared = [...declaredTools(body)];
  if (declared.length === 0) return [];
  const choices = isAllowed ? allowed : [choice];
  const isMeant =
    choice === 'required' ? () => true : toolMatcher(Array.isArray(choices) ? choices.filter(isJsonObject) : []);
  const canBeCalled = declared.some((one) => one.isCallable && isMeant(one));
  return [{ kind: canBeCalled ? 'forced_tool' : 'tools', member: 'tool_choice' }];
}

const inItems = (input: unknown): HubNeed[] =>
  (Array.isArray(input) ? input : []).flatMap((item, index) =>
    isJsonObject(item) ? neededItem(item, `input[${index}]`) : [{ kind: 'content_part', member: `input[${index}]` }],
  );

function neededItem(item: JsonObject, member: string): HubNeed[] {
  const { type, role, content, output } = item;
  const use = itemUse(item);
  if (typeof use !== 'string') return [{ kind: use.needs, member }];
  if (typeof type === 'string' && type.startsWith('input_')) return neededPart(item, 'user', member);
  if (isSent(role) && !itemRoles.has(role)) return [{ kind: 'content_part', member: `${member}.role` }];
  if (isOutputWithParts(type)) return neededParts(output, 'user', `${member}.output`);
  if (isSent(role) && type !== 'additional_tools') return neededParts(content, role, `${member}.content`);
  return [];
}

const outputsWithParts: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'computer_call_output',
]);
const isOutputWithParts = (type: unknown): boolean => outputsWithParts.has(type);

const neededParts = (content: unknown, role: unknown, path: string): HubNeed[] =>
  isJsonObject(content)
    ? neededPart(content, role, path)
    : (Array.isArray(content) ? content : []).flatMap((part, index) =>
        isJsonObject(part) ? neededPart(part, role, `${path}[${index}]`) : [],
      );

const textTypes: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'text', 'refusal', 'summary_text']);

function neededPart(part: JsonObject, role: unknown, member: string): HubNeed[] {
  const { type, image_url: image, file_url: url, file_data: data } = part;
  if (textTypes.has(type)) return [];
  // The content of instructions and answers is text in every format.
  if (role !== 'user') return [{ kind: 'content_part', member }];
  if (type === 'input_audio') return [{ kind: 'audio_input', member }];
  if (type === 'input_image' || type === 'computer_screenshot') return neededImage(image, member);
  if (type !== 'input_file') return [{ kind: 'content_part', member }];
  if (typeof data === 'string') return [{ kind: 'file', member, value: mediaTypeOf(data) }];
  return [{ kind: isWebUrl(url) ? 'file_url' : 'file_id', member }];
}

function neededImage(image: unknown, member: string): HubNeed[] {
  if (typeof image !== 'string') return [{ kind: 'file_id', member }];
  if (/^data:[^,]{0,1000},/i.test(image)) return [];
  return [{ kind: isWebUrl(image) ? 'image_url' : 'image', member }];
}

/** Returns the type of a file. Data without a data URL is assumed to have the most common type. */
const mediaTypeOf = (data: string): string =>
  /^data:([^;,]*)/i.exec(data.slice(0, 256))?.[1]?.toLowerCase() ?? 'application/pdf';
