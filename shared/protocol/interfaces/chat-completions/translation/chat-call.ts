// Converts a chat completion to a call of the hub. Anything that the hub does not support is dropped, never guessed.

import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { isRawNumber } from '../../../../foundation/ids/index.ts';
import {
  type CallReader,
  cacheMark,
  collectFieldsInside,
  type HubCall,
  type MembersRead,
  markedMembers,
  numberOption,
  type OptionalMember,
  type OptionalName,
  otherMembers,
  type PromptReader,
  type ReasoningPreference,
  toInputSchema,
  toResponseFormat,
  withTopMarks,
} from '../../../hub/index.ts';
import { type Envelopes, isEffort, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { outputBoundNames } from '../chat-request.ts';
import { gatewayMembers } from '../gateway-members.ts';
import { leftOutOfTools, useInMessages } from './chat-fields.ts';
import { openPrompt } from './chat-prompt.ts';

export function openHubCall(body: JsonObject, open: Envelopes['open']): CallReader {
  const prompt = openPrompt(open);
  const fields = collectFieldsInside(useInMessages);
  return {
    read(message, at) {
      prompt.read(message, at);
      fields.add(message, at, () => 'messages');
    },
    end: () => toHubCall(body, prompt, fields.found),
  };
}

/** Converts the request. `inside` lists the fields inside the messages. */
function toHubCall(
  body: JsonObject,
  { prompt, unknownFields }: PromptReader,
  inside: readonly OptionalMember[],
): HubCall {
  const format = isJsonObject(body.response_format) ? body.response_format : {};
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop;
  const call: HubCall = {
    prompt,
    ...numberOption('temperature', body.temperature),
    ...numberOption('topP', body.top_p),
    ...numberOption('topK', body.top_k),
    // The number is passed on as it was written, because a package compares it with nothing.
    ...(isRawNumber(body.seed) ? { seed: body.seed as unknown as number } : numberOption('seed', body.seed)),
    ...numberOption('frequencyPenalty', body.frequency_penalty),
    ...numberOption('presencePenalty', body.presence_penalty),
    ...(Array.isArray(stop) ? { stopSequences: stop.filter((one) => typeof one === 'string') } : {}),
    ...toResponseFormat(format.type, format.json_schema),
    ...toToolOptions(body),
    reasoning: readReasoning(body),
    parallelToolCalls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : undefined,
    optional: [...readOptional(body), ...inside, ...unknownFields],
  };
  return withTopMarks(call, body);
}

/** Fields that the call carries, fields that the gateway reads itself, and fields that it needs. */
const bodyMembers = new Set([
  ...gatewayMembers,
  ...outputBoundNames,
  ...['model', 'messages', 'stream', 'stream_options', 'temperature', 'top_p', 'top_k', 'seed', 'stop'],
  ...['frequency_penalty', 'presence_penalty', 'response_format', 'tools', 'tool_choice', 'functions'],
  ...['parallel_tool_calls', 'reasoning_effort', 'n', 'best_of', 'logprobs', 'top_logprobs', 'modalities', 'audio'],
  ...['service_tier', 'web_search_options', 'plugins'],
]);

const optionalNames = new Map<string, OptionalName>([
  ['user', 'user'],
  ['safety_identifier', 'safety_identifier'],
  ['prompt_cache_key', 'cache_key'],
  ['verbosity', 'verbosity'],
  ['cache_control', 'cache_marks'],
  ['prompt_cache_options', 'cache_options'],
  // No target can express the next fields.
  ['function_call', 'other'],
  ['logit_bias', 'other'],
  ['metadata', 'metadata'],
  ['moderation', 'other'],
  ['prediction', 'other'],
  ['prompt_cache_retention', 'other'],
  ['store', 'store'],
]);

/** True for a value that has an effect; the defaults of every call have none. */
const isSent = (value: unknown): boolean => (value ?? null) !== null && value !== false;

export const chatMembers: MembersRead = { read: bodyMembers, names: optionalNames, isSent };

const readOptional = (body: JsonObject): OptionalMember[] => [
  ...otherMembers(body, chatMembers),
  ...(readReasoning(body) === undefined
    ? []
    : [{ name: 'thinking', member: reasoningMember(body), value: true } as const]),
  ...(body.parallel_tool_calls === false
    ? [{ name: 'serial_calls', member: 'parallel_tool_calls', value: false } as const]
    : []),
  ...markedMembers({ messages: body.messages }, body.tools),
  ...leftOutOfTools(body.tools),
];

const reasoningMember = ({ reasoning }: JsonObject): string =>
  isJsonObject(reasoning) ? 'reasoning' : 'reasoning_effort';

function readReasoning({ reasoning, reasoning_effort: short }: JsonObject): ReasoningPreference | undefined {
  const { enabled, effort, max_tokens: tokens } = isJsonObject(reasoning) ? reasoning : {};
  if (enabled === false) return 'none';
  if (typeof tokens === 'number') return tokens <= 0 ? 'none' : { budgetTokens: tokens };
  const effortName = effort ?? short;
  if (effortName === 'none' || isEffort(effortName)) return effortName;
  return enabled === true ? 'medium' : undefined;
}

// Tools, and the choice among them.

type ChatToolOptions = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

function toToolOptions({ tools, tool_choice: choice }: JsonObject): ChatToolOptions {
  const list = (Array.isArray(tools) ? tools : []).filter(isJsonObject).flatMap(toTool);
  if (list.length === 0) return {};
  if (isJsonObject(choice) && choice.type === 'allowed_tools')
    return allowedTools(list, choice.allowed_tools ?? choice);
  const toolChoice = toChoice(choice);
  return { tools: list, ...(toolChoice === undefined ? {} : { toolChoice }) };
}

function toTool(tool: JsonObject): LanguageModelV4FunctionTool[] {
  if (!isJsonObject(tool.function)) return [];
  const { name, description, parameters, strict } = tool.function;
  return [
    {
      type: 'function',
      name: typeof name === 'string' ? name : '',
      ...(typeof description === 'string' ? { description } : {}),
      inputSchema: toInputSchema(parameters),
      ...(typeof strict === 'boolean' ? { strict } : {}),
      ...cacheMark(tool),
    },
  ];
}

function toChoice(choice: unknown): ChatToolOptions['toolChoice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  const fn = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function : {};
  return typeof fn.name === 'string' ? { type: 'tool', toolName: fn.name } : undefined;
}

/** Applies a choice among some of the tools. Only these tools are sent. */
function allowedTools(list: LanguageModelV4FunctionTool[], allowed: unknown): ChatToolOptions {
  const { mode, tools } = isJsonObject(allowed) ? allowed : {};
  const toolObjects = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  const names = new Set(toolObjects.map(({ name, function: fn }) => (isJsonObject(fn) ? fn.name : name)));
  const toolChoice = toChoice(mode);
  return { tools: list.filter(({ name }) => names.has(name)), ...(toolChoice === undefined ? {} : { toolChoice }) };
}
