// Converts a request of Converse to a call of the hub. Fields that not every target supports are optional, and the call
// reports the fields that were dropped.

import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import {
  type CallReader,
  type FieldUses,
  fieldUses,
  type HubCall,
  leftOutFields,
  type MembersRead,
  markOf,
  numberOption,
  type OptionalMember,
  type OptionalName,
  otherMembers,
  type PromptReader,
  type ReasoningPreference,
  reportedPathsMax,
  type ToolNames,
  toInputSchema,
  withMark,
} from '../../../hub/index.ts';
import { type Envelopes, isEffort, isJsonObject, type JsonObject, parseInnerJson } from '../../../wire/index.ts';
import { blockOf } from '../block-kinds.ts';
import { blocksAt, blocksOf, type PlacedBlock } from '../converse-media.ts';
import { openPrompt } from './converse-prompt.ts';

const inside = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

export function openHubCall(body: JsonObject, names: ToolNames, open: Envelopes['open']): CallReader {
  const prompt = openPrompt(body, { names, open });
  return { read: prompt.read, end: () => toHubCall(body, names, prompt) };
}

function toHubCall(body: JsonObject, names: ToolNames, { prompt, unknownFields }: PromptReader): HubCall {
  const maker = inside(body.additionalModelRequestFields);
  const { tools, toolChoice, parallelToolCalls, leftOut } = toToolOptions(body.toolConfig, maker.tool_choice, names);
  const { temperature, topP, stopSequences } = inside(body.inferenceConfig);
  const stops = (Array.isArray(stopSequences) ? stopSequences : []).filter((one) => typeof one === 'string');
  return {
    prompt,
    ...numberOption('temperature', temperature),
    ...numberOption('topP', topP),
    ...numberOption('topK', maker.top_k ?? maker.topK ?? inside(maker.inferenceConfig).topK),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
    ...toResponseFormat(inside(body.outputConfig).textFormat),
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    reasoning: readReasoning(body)?.reasoning,
    parallelToolCalls,
    optional: [...leftOut, ...readOptional(body), ...unknownFields],
  };
}

/** Effort for a model with adaptive thinking, if the request has none. */
const adaptiveEffort = 'medium';

interface ReadReasoning {
  readonly reasoning: ReasoningPreference;
  readonly member: string;
}

/** Reads the preference from the fields of Converse, or from the fields of Claude, Nova and GPT on Bedrock. */
function readReasoning({ outputConfig, additionalModelRequestFields }: JsonObject): ReadReasoning | undefined {
  const maker = inside(additionalModelRequestFields);
  const place = 'additionalModelRequestFields';
  const [thinking, thinkingMember] =
    maker.thinking === undefined ? [maker.reasoning_config, 'reasoning_config'] : [maker.thinking, 'thinking'];
  const { type, budget_tokens: tokens } = inside(thinking);
  if (type === 'disabled') return { reasoning: 'none', member: `${place}.${thinkingMember}` };
  const { effort: claudes } = inside(maker.output_config);
  const { type: novaType, maxReasoningEffort: novas } = inside(maker.reasoningConfig);
  if (novaType === 'disabled') return { reasoning: 'none', member: `${place}.reasoningConfig` };
  const efforts = [
    [inside(outputConfig).effort, 'outputConfig.effort'],
    [claudes, `${place}.output_config.effort`],
    [novas, `${place}.reasoningConfig`],
    [maker.reasoning_effort, `${place}.reasoning_effort`],
  ] as const;
  for (const [effort, member] of efforts)
    if (isEffort(effort) || effort === 'none') return { reasoning: effort, member };
  const member = `${place}.${thinkingMember}`;
  if (type === 'adaptive') return { reasoning: adaptiveEffort, member };
  if (type === 'enabled' && typeof tokens === 'number') return { reasoning: { budgetTokens: tokens }, member };
  return undefined;
}

/** Reads a schema, which is a string in Converse. */
function toResponseFormat(format: unknown): Pick<HubCall, 'responseFormat'> {
  const { type, structure } = inside(format);
  const { schema: text, name, description } = inside(inside(structure).jsonSchema);
  const schema = typeof text === 'string' ? parseInnerJson(text)?.value : text;
  if (type !== 'json_schema' || !isJsonObject(schema)) return {};
  return {
    responseFormat: {
      type: 'json',
      schema,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof description === 'string' ? { description } : {}),
    },
  };
}

/** Fields that the call carries, fields that the gateway reads itself, and fields that it needs. */
const bodyMembers = new Set([
  ...['models', 'provider', 'cache', 'messages', 'system', 'inferenceConfig', 'toolConfig', 'outputConfig'],
  ...['additionalModelRequestFields', 'additionalModelResponseFieldPaths', 'guardrailConfig', 'promptVariables'],
]);

const optionalNames = new Map<string, OptionalName>([
  ['requestMetadata', 'other'],
  ['serviceTier', 'service_tier'],
  ['performanceConfig', 'other'],
]);

const isSent = (value: unknown): boolean => (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);

const converseMembers: MembersRead = { read: bodyMembers, names: optionalNames, isSent };

function readOptional(body: JsonObject): OptionalMember[] {
  const { additionalModelRequestFields: maker, additionalModelResponseFieldPaths: paths } = body;
  const reasoning = readReasoning(body);
  const serial = inside(inside(maker).tool_choice).disable_parallel_tool_use;
  return [
    ...otherMembers(body, converseMembers),
    ...leftOutFields(body.inferenceConfig, inferenceFields, 'inferenceConfig.'),
    ...leftOutFields(body.outputConfig, outputFields, 'outputConfig.'),
    ...leftOutFields(maker, makerFields, 'additionalModelRequestFields.'),
    ...(reasoning === undefined
      ? []
      : [
          {
            name: 'thinking',
            member: reasoning.member,
            value: reasoning.reasoning === 'none' ? null : reasoning.reasoning,
          } as const,
        ]),
    ...(serial === true
      ? [{ name: 'serial_calls', member: 'additionalModelRequestFields.tool_choice', value: true } as const]
      : []),
    ...unansweredPaths(paths),
    ...markedBlocks(body),
    ...fieldsOfBlocks(body),
  ];
}

/** Paths in Claude's fields of an answer at which the matched stop sequence is, in JSON and in a stream. */
const stopPaths: readonly unknown[] = ['/stop_sequence', '/delta/stop_sequence'];

const unansweredPaths = (paths: unknown): OptionalMember[] =>
  Array.isArray(paths) && paths.some((path) => !stopPaths.includes(path))
    ? [{ name: 'other', member: 'additionalModelResponseFieldPaths', value: true }]
    : [];

/**
 * Returns the first cache point of the conversation, and the first cache point of a call without text, as fields that a
 * target may drop.
 */
function markedBlocks({ system, messages }: JsonObject): OptionalMember[] {
  for (const { kind, path } of [...blocksAt(system, 'system'), ...blocksOf(messages)]) {
    if (kind === 'cachePoint') return [{ name: 'cache_marks', member: path, value: true }];
  }
  return [];
}

/** Returns fields inside messages and blocks that the call does not carry, at most as many as are reported. */
function fieldsOfBlocks({ messages }: JsonObject): OptionalMember[] {
  const fields: OptionalMember[] = [];
  for (const [at, message] of (Array.isArray(messages) ? messages : []).entries()) {
    fields.push(...leftOutFields(message, messageFields, `messages[${at}].`));
    if (fields.length >= reportedPathsMax) return fields;
  }
  for (const block of blocksOf(messages)) {
    fields.push(...leftOutOfBlock(block));
    if (fields.length >= reportedPathsMax) return fields;
  }
  return fields;
}

function leftOutOfBlock({ kind, value, path }: PlacedBlock): OptionalMember[] {
  const uses = fieldsOfBlock(kind);
  return uses === undefined ? [] : leftOutFields(value, uses, `${path}.`);
}

// Reads the tools and the choice among them. Tools that Bedrock runs itself are dropped and reported.

interface ConverseToolOptions {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  readonly parallelToolCalls: boolean | undefined;
  readonly leftOut: readonly OptionalMember[];
}

/**
 * Converts the tools. `claudeChoice` is the choice in Claude's own format, together with which Bedrock accepts no
 * other.
 */
function toToolOptions(toolConfig: unknown, claudeChoice: unknown, names: ToolNames): ConverseToolOptions {
  const { tools: listed, toolChoice } = isJsonObject(toolConfig) ? toolConfig : {};
  const tools: LanguageModelV4FunctionTool[] = [];
  const leftOut: OptionalMember[] = [];
  for (const [index, tool] of (Array.isArray(listed) ? listed : []).entries()) {
    const { kind, value } = blockOf(tool) ?? {};
    const path = `toolConfig.tools[${index}]`;
    if (kind === 'toolSpec' && isJsonObject(value)) {
      tools.push(toTool(value, names));
      leftOut.push(...leftOutFields(value, toolFields, 'toolConfig.tools.'));
    } else if (kind === 'cachePoint') {
      const last = tools.pop();
      if (last !== undefined) tools.push(withMark(last, markOf(isJsonObject(value) ? value.ttl : undefined)));
      leftOut.push({ name: 'tool_cache_marks', member: `${path}.cachePoint`, value: true });
    } else if (kind !== undefined)
      leftOut.push({ name: 'provider_tool', member: nameOfTool(kind, value, path), value: true });
  }
  const choice = isJsonObject(claudeChoice) ? claudeChoice : {};
  const { disable_parallel_tool_use: isSerial } = choice;
  return {
    tools,
    toolChoice: tools.length === 0 ? undefined : (choiceOfClaude(choice, names) ?? toChoice(toolChoice, names)),
    parallelToolCalls: typeof isSerial === 'boolean' ? !isSerial : undefined,
    leftOut,
  };
}

const nameOfTool = (kind: string, value: unknown, path: string): string =>
  kind === 'systemTool' && isJsonObject(value) && typeof value.name === 'string' ? `tools.${value.name}` : path;

function toTool({ name, description, inputSchema, strict }: JsonObject, names: ToolNames): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name: names.short(typeof name === 'string' ? name : ''),
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: toInputSchema(isJsonObject(inputSchema) ? inputSchema.json : undefined),
    // The value is explicit, because some targets treat a tool without `strict` as strict.
    strict: strict === true,
  };
}

function toChoice(toolChoice: unknown, names: ToolNames): ConverseToolOptions['toolChoice'] {
  const { kind, value } = blockOf(toolChoice) ?? {};
  if (kind === 'any') return { type: 'required' };
  if (kind === 'auto') return { type: 'auto' };
  const { name } = isJsonObject(value) ? value : {};
  return kind === 'tool' && typeof name === 'string' ? { type: 'tool', toolName: names.short(name) } : undefined;
}

function choiceOfClaude({ type, name }: JsonObject, names: ToolNames): ConverseToolOptions['toolChoice'] {
  if (type === 'any') return { type: 'required' };
  if (type === 'auto' || type === 'none') return { type };
  return type === 'tool' && typeof name === 'string' ? { type: 'tool', toolName: names.short(name) } : undefined;
}

// The fields of messages, blocks and tools of Converse, and the fields of a request that no other model gets.

const messageFields: FieldUses = fieldUses('role content');

/** Fields of translated blocks, by their kind. A text block is not an object. */
const blockFields: Readonly<Record<string, FieldUses>> = {
  image: fieldUses('format source', 'error'),
  document: fieldUses('format name source context', 'citations'),
  video: fieldUses('format source'),
  audio: fieldUses('format source', 'error'),
  toolUse: fieldUses('toolUseId name input type'),
  toolResult: fieldUses('toolUseId content status type'),
  reasoningContent: fieldUses('reasoningText redactedContent'),
  citationsContent: fieldUses('content', 'citations'),
  searchResult: fieldUses('source title content', 'citations'),
  guardContent: fieldUses('text image'),
  cachePoint: fieldUses('type ttl'),
};

const fieldsOfBlock = (kind: string): FieldUses | undefined =>
  Object.hasOwn(blockFields, kind) ? blockFields[kind] : undefined;

const toolFields: FieldUses = fieldUses('name description inputSchema strict');
const inferenceFields: FieldUses = fieldUses('maxTokens temperature topP stopSequences');
const outputFields: FieldUses = fieldUses('textFormat effort');

/**
 * Fields of a model's vendor that every format can express, which are thinking with the names of Claude, Nova and GPT
 * on Bedrock, and `top_k`.
 */
const makerFields: FieldUses = fieldUses(
  'thinking reasoning_config reasoningConfig reasoning_effort output_config top_k topK tool_choice inferenceConfig',
);
