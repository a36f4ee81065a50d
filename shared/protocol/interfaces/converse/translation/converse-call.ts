// Converts a request of Converse to a call of the hub. Fields that not every target supports are optional: the call
// reports the dropped ones.
import {
  type HubCall,
  leftOutFields,
  type MembersRead,
  numberOption,
  type OptionalMember,
  type OptionalName,
  otherMembers,
  type ReasoningPreference,
  reportedPathsMax,
} from '../../../hub/index.ts';
import { isEffort, isJsonObject, type JsonObject, parseInnerJson } from '../../../wire/index.ts';
import { blocksAt, blocksOf, type PlacedBlock } from '../converse-media.ts';
import { fieldsOfBlock, inferenceFields, makerFields, messageFields, outputFields } from './converse-fields.ts';
import { type ConversePromptReading, toPrompt } from './converse-prompt.ts';
import { toToolOptions } from './converse-tools.ts';

const inside = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

export async function toHubCall(body: JsonObject, reading: ConversePromptReading): Promise<HubCall> {
  const { prompt, strangers } = await toPrompt(body, reading);
  const maker = inside(body.additionalModelRequestFields);
  const { tools, toolChoice, parallelToolCalls, leftOut } = toToolOptions(
    body.toolConfig,
    maker.tool_choice,
    reading.names,
  );
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
    optional: [...leftOut, ...readOptional(body), ...strangers],
  };
}

/** Effort of a model with adaptive thinking, where the request has none. */
const adaptiveEffort = 'medium';

interface ReadReasoning {
  readonly reasoning: ReasoningPreference;
  readonly member: string;
}

/** In the words of Converse, or of the makers on Bedrock: Claude's, Nova's, and those of GPT. */
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

/** A schema is a text there. */
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

/** Fields that the call carries, that the gateway reads itself, or that it needs. */
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

/** Where Claude's fields of an answer have the stop that ended it, in JSON and in a stream. */
const stopPaths: readonly unknown[] = ['/stop_sequence', '/delta/stop_sequence'];

const unansweredPaths = (paths: unknown): OptionalMember[] =>
  Array.isArray(paths) && paths.some((path) => !stopPaths.includes(path))
    ? [{ name: 'other', member: 'additionalModelResponseFieldPaths', value: true }]
    : [];

/** The first cache point of the conversation, and of a call without a text, as fields that a target may drop. */
function markedBlocks({ system, messages }: JsonObject): OptionalMember[] {
  for (const { kind, path } of [...blocksAt(system, 'system'), ...blocksOf(messages)]) {
    if (kind === 'cachePoint') return [{ name: 'cache_marks', member: path, value: true }];
  }
  return [];
}

/** Fields inside messages and blocks that the call does not carry, at most as many as are reported. */
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
