// Converts a request of Messages to a call of the hub. Fields that not every target supports are optional, and the call
// reports the fields that were dropped.

import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import {
  type CallReader,
  cacheMark,
  collectFieldsInside,
  type HubCall,
  leftOutFields,
  type MembersRead,
  markedMembers,
  numberOption,
  type OptionalMember,
  type OptionalName,
  otherMembers,
  type PromptReader,
  type ReasoningPreference,
  type ToolNames,
  toInputSchema,
  withTopMarks,
} from '../../../hub/index.ts';
import { type Envelopes, isEffort, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { offeredTools } from '../offered-tools.ts';
import { outputFields, thinkingFields, toolFields, useInMessages } from './message-fields.ts';
import { openPrompt } from './message-prompt.ts';

export function openHubCall(body: JsonObject, names: ToolNames, open: Envelopes['open']): CallReader {
  const prompt = openPrompt(body, { names, open });
  const fields = collectFieldsInside(useInMessages);
  fields.addList(body.system, () => 'system');
  return {
    read(message, at) {
      prompt.read(message, at);
      fields.add(message, at, () => 'messages');
    },
    end: () => toHubCall(body, names, prompt, fields.found),
  };
}

/** Converts the request. `inside` lists the fields inside instructions and messages. */
function toHubCall(
  body: JsonObject,
  names: ToolNames,
  { prompt, unknownFields }: PromptReader,
  inside: readonly OptionalMember[],
): HubCall {
  const { tools, toolChoice, parallelToolCalls, leftOut } = toToolOptions(body, names);
  const stops = Array.isArray(body.stop_sequences) ? body.stop_sequences.filter((one) => typeof one === 'string') : [];
  const call: HubCall = {
    prompt,
    ...numberOption('temperature', body.temperature),
    ...numberOption('topP', body.top_p),
    ...numberOption('topK', body.top_k),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
    ...toResponseFormat(body.output_config, body.output_format),
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    reasoning: readReasoning(body),
    parallelToolCalls,
    optional: [...leftOut, ...readOptional(body), ...inside, ...unknownFields],
  };
  return withTopMarks(call, body);
}

/** Effort for a model with adaptive thinking, if the request has none. */
const adaptiveEffort = 'medium';

/** Values for the least thinking, because a model that knows `between_tools` cannot think less. */
const withoutThinking: readonly unknown[] = ['disabled', 'between_tools'];
export const thinkingTypes: readonly unknown[] = [...withoutThinking, 'adaptive', 'enabled'];

function readReasoning({ thinking, output_config: output }: JsonObject): ReasoningPreference | undefined {
  const { type, budget_tokens: tokens } = isJsonObject(thinking) ? thinking : {};
  if (withoutThinking.includes(type)) return 'none';
  const effort = isJsonObject(output) && isEffort(output.effort) ? output.effort : undefined;
  if (effort !== undefined) return effort;
  if (type === 'adaptive') return adaptiveEffort;
  return type === 'enabled' && typeof tokens === 'number' ? { budgetTokens: tokens } : undefined;
}

function toResponseFormat(output: unknown, former: unknown): Pick<HubCall, 'responseFormat'> {
  const format = isJsonObject(output) && isJsonObject(output.format) ? output.format : former;
  if (!isJsonObject(format) || format.type !== 'json_schema' || !isJsonObject(format.schema)) return {};
  return { responseFormat: { type: 'json', schema: format.schema } };
}

/** Fields that the call carries, fields that the gateway reads itself, and fields that it needs. */
const bodyMembers = new Set([
  ...['model', 'models', 'provider', 'cache', 'stream', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice'],
  ...['stop_sequences', 'temperature', 'top_p', 'top_k', 'thinking', 'output_config', 'output_format'],
  ...['thread', 'mcp_servers', 'container', 'compaction', 'anthropic_version'],
]);

const optionalNames = new Map<string, OptionalName>([
  ['metadata', 'metadata'],
  ['cache_control', 'cache_marks'],
  ['context_management', 'context_management'],
  ['service_tier', 'service_tier'],
  ['inference_geo', 'inference_geo'],
  ['speed', 'speed'],
  ['diagnostics', 'diagnostics'],
  ['safeguards', 'safety_identifier'],
  // No target can express the next fields.
  ['compaction', 'other'],
  ['billing_policy', 'other'],
  ['fallback_credit_token', 'other'],
  ['fallbacks', 'other'],
  ['betas', 'other'],
  ['user_profile_id', 'other'],
  ['workspace_id', 'other'],
]);

const isSent = (value: unknown): boolean => (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);

export const messageMembers: MembersRead = { read: bodyMembers, names: optionalNames, isSent };
/** Returns the optional user; no other target supports the rest of the metadata. */
function userOfMetadata(one: OptionalMember): OptionalMember {
  if (one.name !== 'metadata') return one;
  const { user_id: user } = membersIn(one.value);
  return typeof user === 'string' ? { ...one, name: 'user_session', value: user } : { ...one, name: 'other' };
}

function readOptional(body: JsonObject): OptionalMember[] {
  const optional = (name: OptionalName, member: string, value: unknown): OptionalMember[] =>
    isSent(value) ? [{ name, member, value }] : [];
  const { type } = membersIn(body.thinking);
  const { effort } = membersIn(body.output_config);
  const { disable_parallel_tool_use: isSerial } = membersIn(body.tool_choice);
  return [
    ...otherMembers(body, messageMembers).map(userOfMetadata),
    ...optional(
      'thinking',
      isSent(effort) ? 'output_config.effort' : 'thinking',
      effort ?? (type === 'disabled' ? null : type),
    ),
    ...leftOutFields(membersIn(body.thinking), thinkingFields, 'thinking.'),
    ...leftOutFields(membersIn(body.output_config), outputFields, 'output_config.'),
    ...optional('serial_calls', 'tool_choice.disable_parallel_tool_use', isSerial === true ? true : null),
    ...markedMembers({ system: body.system, messages: body.messages }, body.tools),
  ];
}

const membersIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

// Tools and the choice among them. Tools that only their own provider knows are dropped and reported.

interface MessageToolOptions {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  readonly parallelToolCalls: boolean | undefined;
  readonly leftOut: readonly OptionalMember[];
}

function toToolOptions(body: JsonObject, names: ToolNames): MessageToolOptions {
  const tools: LanguageModelV4FunctionTool[] = [];
  const leftOut: OptionalMember[] = [];
  for (const { tool, path } of offeredTools(body)) {
    if (isClientTool(tool)) {
      tools.push(toTool(tool, names));
      leftOut.push(...leftOutFields(tool, toolFields, 'tools.'));
    } else leftOut.push({ name: 'provider_tool', member: nameOfTool(tool, path), value: true });
  }
  const { tool_choice: choice } = body;
  const { disable_parallel_tool_use: isSerial } = isJsonObject(choice) ? choice : {};
  return {
    tools,
    toolChoice: tools.length === 0 ? undefined : toChoice(choice, names),
    parallelToolCalls: typeof isSerial === 'boolean' ? !isSerial : undefined,
    leftOut,
  };
}

/** True for a tool of the client, which declares a schema. */
const isClientTool = ({ type, input_schema: schema }: JsonObject): boolean =>
  isJsonObject(schema) && ((type ?? 'custom') === 'custom' || type === null);

const versionSuffix = /_\d{8}$/;

/**
 * Returns the name of a tool without its version, such as `tools.web_search`, because the version means nothing to a
 * reader.
 */
const nameOfTool = ({ type }: JsonObject, path: string): string =>
  typeof type === 'string' ? `tools.${type.replace(versionSuffix, '')}` : path;

function toTool(tool: JsonObject, names: ToolNames): LanguageModelV4FunctionTool {
  const { name, description, input_schema: schema, strict } = tool;
  return {
    type: 'function',
    name: names.short(typeof name === 'string' ? name : ''),
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: toInputSchema(schema),
    // The value is explicit, because some targets treat a tool without `strict` as strict.
    strict: strict === true,
    ...cacheMark(tool),
  };
}

function toChoice(choice: unknown, names: ToolNames): MessageToolOptions['toolChoice'] {
  const { type, name } = isJsonObject(choice) ? choice : {};
  if (type === 'any') return { type: 'required' };
  if (type === 'auto' || type === 'none') return { type };
  return type === 'tool' && typeof name === 'string' ? { type: 'tool', toolName: names.short(name) } : undefined;
}
