// Converts a Responses request to a call of the hub. Fields that not every target supports are optional, and the call
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
  toInputSchema,
  toResponseFormat,
  withTopMarks,
} from '../../../hub/index.ts';
import { isEffort, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { type DeclaredTool, declaredTools, isNeedless, toolMatcher } from '../declared-tools.ts';
import type { ClientTool, ClientTools } from './client-tools.ts';
import { freeformParameters } from './freeform-input.ts';
import { leftOutOfTool, reasoningFields, textFields, useInInput } from './item-fields.ts';
import { type OwnToolType, ownTools } from './own-tools.ts';
import { openPrompt, type ResponsePromptReading } from './response-prompt.ts';

export function openHubCall(body: JsonObject, reading: ResponsePromptReading): CallReader {
  // Tools are read before the prompt, because declared tools have the first choice of names.
  const toolOptions = toToolOptions(body, reading.clientTools);
  const prompt = openPrompt(body, reading);
  const fields = collectFieldsInside(useInInput);
  return {
    read(item, at) {
      prompt.read(item, at);
      fields.add(item, at, () => 'input');
    },
    end: () => toHubCall(body, toolOptions, prompt.end(), fields.found),
  };
}

/** Converts the request. `inside` lists the fields inside the items. */
function toHubCall(
  body: JsonObject,
  { tools, toolChoice, leftOut }: ResponseToolOptions,
  { prompt, unknownFields }: Omit<PromptReader, 'read'>,
  inside: readonly OptionalMember[],
): HubCall {
  const format = isJsonObject(body.text) && isJsonObject(body.text.format) ? body.text.format : {};
  const call: HubCall = {
    prompt,
    ...numberOption('temperature', body.temperature),
    ...numberOption('topP', body.top_p),
    ...toResponseFormat(format.type, format),
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    reasoning: readReasoning(body.reasoning),
    parallelToolCalls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : undefined,
    optional: [...leftOut, ...readOptional(body), ...inside, ...unknownFields],
  };
  return withTopMarks(call, body);
}

function readReasoning(reasoning: unknown): ReasoningPreference | undefined {
  const { effort } = isJsonObject(reasoning) ? reasoning : {};
  return effort === 'none' || isEffort(effort) ? effort : undefined;
}

/** Fields that the call carries, fields that the gateway reads itself, and fields that it needs. */
const bodyMembers = new Set([
  ...['model', 'models', 'provider', 'cache', 'preset', 'stream', 'background', 'input', 'instructions', 'tools'],
  ...['tool_choice', 'parallel_tool_calls', 'max_output_tokens', 'temperature', 'top_p', 'reasoning', 'text'],
  ...['previous_response_id', 'conversation', 'prompt', 'store', 'truncation', 'top_logprobs', 'service_tier'],
]);

const optionalNames = new Map<string, OptionalName>([
  ['metadata', 'metadata'],
  ['user', 'user'],
  ['safety_identifier', 'safety_identifier'],
  ['prompt_cache_key', 'cache_key'],
  ['prompt_cache_options', 'cache_options'],
  ['cache_control', 'cache_marks'],
  ['context_management', 'context_management'],
  // No target can express the next fields.
  ['access_programs', 'other'],
  ['background_options', 'other'],
  ['image', 'other'],
  ['include', 'other'],
  ['max_tool_calls', 'other'],
  ['moderation', 'other'],
  ['prompt_cache_retention', 'other'],
  ['stream_options', 'other'],
]);

/** Tiers that are the default of every model. */
const usualTiers: ReadonlySet<unknown> = new Set(['auto', 'default']);
const isSent = (value: unknown): boolean =>
  (value ?? null) !== null && !(Array.isArray(value) && value.length === 0) && !(isJsonObject(value) && isEmpty(value));
const isEmpty = (members: JsonObject): boolean => Object.keys(members).length === 0;

export const responseMembers: MembersRead = { read: bodyMembers, names: optionalNames, isSent };
const membersIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

function readOptional(body: JsonObject): OptionalMember[] {
  const [text, reasoning] = [membersIn(body.text), membersIn(body.reasoning)];
  const { effort } = reasoning;
  const optional = (name: OptionalName, member: string, value: unknown, isAsked = isSent(value)): OptionalMember[] =>
    isAsked ? [{ name, member, value }] : [];
  return [
    ...markedMembers({ input: body.input }, body.tools),
    ...otherMembers(body, responseMembers),
    ...optional('verbosity', 'text.verbosity', text.verbosity),
    ...leftOutFields(text, textFields, 'text.'),
    ...optional('thinking', 'reasoning.effort', effort, isSent(effort) && effort !== 'none'),
    ...leftOutFields(reasoning, reasoningFields, 'reasoning.'),
    ...optional('serial_calls', 'parallel_tool_calls', false, body.parallel_tool_calls === false),
    ...optional(
      'service_tier',
      'service_tier',
      body.service_tier,
      isSent(body.service_tier) && !usualTiers.has(body.service_tier),
    ),
    ...optional('other', 'truncation', body.truncation, body.truncation === 'auto'),
    ...optional('store', 'store', body.store, body.store === true),
  ];
}

// Reads the tools and the choice among them. Tools that a client runs are functions for other models; tools that only
// OpenAI runs are dropped and reported.

interface ResponseToolOptions {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  readonly leftOut: readonly OptionalMember[];
}

function toToolOptions(body: JsonObject, clientTools: ClientTools): ResponseToolOptions {
  const declared = [...declaredTools(body)];
  const callable = declared.filter(({ isCallable }) => isCallable);
  // A tool that is declared again in mid-conversation has the later definition.
  const byName = new Map(callable.map((one) => [clientTools.nameFor(toClientTool(one)), one]));
  const allowed = allowedNames(body.tool_choice, byName);
  const tools = [...byName].flatMap(([name, { tool }]) => (allowed?.has(name) === false ? [] : [toTool(tool, name)]));
  return {
    tools,
    toolChoice: tools.length === 0 ? undefined : toChoice(body.tool_choice, byName),
    leftOut: declared.flatMap((one) => {
      if (one.isCallable) return leftOutOfTool(one.tool);
      return isNeedless(one.tool) ? [] : [{ name: 'provider_tool', member: pathOf(one), value: true }];
    }),
  };
}

const nameOf = ({ name }: JsonObject): string => (typeof name === 'string' ? name : '');

function toClientTool({ tool, namespace }: Pick<DeclaredTool, 'tool' | 'namespace'>): ClientTool {
  const { type } = tool;
  if (type === 'function' || type === 'custom') return { kind: type, name: nameOf(tool), namespace };
  return { kind: type as OwnToolType, name: type as string };
}

const versionSuffix = /(_preview)?(_\d{4}_\d{2}_\d{2})?$/;

/**
 * Returns the path of a tool without its version, such as `tools.web_search`, because the version means nothing to a
 * reader.
 */
const pathOf = ({ tool: { type }, path }: DeclaredTool): string =>
  typeof type === 'string' ? `tools.${type.replace(versionSuffix, '')}` : path;

function toTool(tool: JsonObject, name: string): LanguageModelV4FunctionTool {
  const { type, description, parameters, strict } = tool;
  if (type === 'custom')
    return { type: 'function', name, ...freeformParameters(tool), strict: false, ...cacheMark(tool) };
  const builtIn = type === 'function' ? undefined : ownTools[type as OwnToolType];
  const text = typeof description === 'string' && description !== '' ? description : builtIn?.description;
  return {
    type: 'function',
    name,
    ...(text === undefined ? {} : { description: text }),
    inputSchema: isJsonObject(parameters) || builtIn === undefined ? toInputSchema(parameters) : builtIn.parameters,
    // The value is explicit, because some targets treat a tool without `strict` as strict.
    strict: strict === true,
    ...cacheMark(tool),
  };
}

type Named = ReadonlyMap<string, DeclaredTool>;

function namesMeant(choices: readonly JsonObject[], tools: Named): string[] {
  const isMeant = toolMatcher(choices);
  return [...tools].flatMap(([name, one]) => (isMeant(one) ? [name] : []));
}

/** Applies a choice among some of the tools. Only these tools are sent. */
function allowedNames(choice: unknown, tools: Named): ReadonlySet<string> | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools' || !Array.isArray(choice.tools)) return undefined;
  return new Set(namesMeant(choice.tools.filter(isJsonObject), tools));
}

function toChoice(choice: unknown, tools: Named): ResponseToolOptions['toolChoice'] {
  const mode = isJsonObject(choice) && choice.type === 'allowed_tools' ? choice.mode : choice;
  if (mode === 'auto' || mode === 'none' || mode === 'required') return { type: mode };
  const [toolName] = isJsonObject(mode) ? namesMeant([mode], tools) : [];
  return toolName === undefined ? undefined : { type: 'tool', toolName };
}
