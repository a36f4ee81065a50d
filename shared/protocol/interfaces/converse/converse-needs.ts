// Finds the features of a Converse request that not every candidate has, or that not every provider format can express.
import {
  type CallSize,
  type Feature,
  type HubNeed,
  isJsonObject,
  type JsonObject,
  type RequestNeeds,
} from '../../wire/index.ts';
import { dearerFeatures, dearerTools, firstOfEachNeed, neededStops } from '../index.ts';
import { blockOf, converseRoles, mediaTypeOf, useOf } from './block-kinds.ts';
import { blocksAt, blocksOf, type PlacedBlock, pathOfKind, sourceOf } from './converse-media.ts';
import type { ConverseMembers } from './converse-request.ts';

export const readHubNeeds = (body: JsonObject): readonly HubNeed[] =>
  firstOfEachNeed([
    ...neededControls(body),
    ...forcedTool(body.toolConfig),
    ...neededStops(isJsonObject(body.inferenceConfig) ? body.inferenceConfig.stopSequences : undefined, stopsMember),
    ...neededRoles(body.messages),
    ...[...blocksAt(body.system, 'system'), ...blocksOf(body.messages)].flatMap(neededBlock),
  ]);

const stopsMember = 'inferenceConfig.stopSequences';

const isSent = (value: unknown): boolean =>
  (value ?? null) !== null && !(isJsonObject(value) && Object.keys(value).length === 0);

/**
 * Returns the needs of controls. A guardrail of AWS that is not applied does not count, and variables belong to a
 * prompt that Bedrock stores.
 */
const neededControls = ({ guardrailConfig, promptVariables }: JsonObject): HubNeed[] => [
  ...(isSent(guardrailConfig) ? [{ kind: 'guardrail', member: 'guardrailConfig' } as const] : []),
  ...(isSent(promptVariables) ? [{ kind: 'stored_prompt', member: 'promptVariables' } as const] : []),
];

interface DeclaredTool {
  readonly path: string;
  readonly tool: JsonObject;
}

export const declaredTools = (toolConfig: unknown): readonly DeclaredTool[] =>
  (isJsonObject(toolConfig) && Array.isArray(toolConfig.tools) ? toolConfig.tools : []).flatMap((tool, index) => {
    const kind = blockOf(tool)?.kind;
    return kind === undefined || kind === 'cachePoint' ? [] : [{ path: `toolConfig.tools[${index}]`, tool }];
  });

const choices: ReadonlySet<string> = new Set(['auto', 'any', 'tool']);

/**
 * Returns the need for a forced call of a provider's own tool. This tool is dropped if it is optional, and then there
 * would be no tool to call.
 */
function forcedTool(toolConfig: unknown): HubNeed[] {
  const choice = isJsonObject(toolConfig) ? blockOf(toolConfig.toolChoice) : undefined;
  if (choice === undefined) return [];
  const names = declaredTools(toolConfig).flatMap(({ tool }) => nameOfOwn(tool) ?? []);
  const toolName = isJsonObject(choice.value) ? choice.value.name : undefined;
  const isForced =
    choice.kind === 'any' ? names.length === 0 : choice.kind === 'tool' && !names.includes(String(toolName));
  return isForced || !choices.has(choice.kind) ? [{ kind: 'tools', member: 'toolConfig.toolChoice' }] : [];
}

/** Returns the name of a tool that the client runs. */
function nameOfOwn({ toolSpec }: JsonObject): string | undefined {
  const { name } = isJsonObject(toolSpec) ? toolSpec : {};
  return typeof name === 'string' ? name : undefined;
}

const neededRoles = (messages: unknown): HubNeed[] =>
  (Array.isArray(messages) ? messages : []).flatMap((message, index): HubNeed[] =>
    isJsonObject(message) && !converseRoles.has(message.role)
      ? [{ kind: 'unknown_role', member: `messages[${index}].role` }]
      : [],
  );

function neededBlock(block: PlacedBlock): HubNeed[] {
  const use = useOf(block);
  const { kind, value, path: member } = block;
  if (typeof use !== 'string') return [{ kind: use.needs, member }];
  const { format, source } = isJsonObject(value) ? value : {};
  if (kind === 'audio') return isInline(block) ? [{ kind: 'audio_input', member }] : [{ kind: 'file_id', member }];
  if (kind !== 'image' && kind !== 'document' && kind !== 'video') return [];
  const { text, content } = sourceOf(block);
  if (kind === 'document' && (typeof text === 'string' || Array.isArray(content))) return [];
  if (!isInline(block)) return [{ kind: isJsonObject(source) ? 'file_id' : 'content_part', member }];
  return kind === 'image' ? [] : [{ kind: 'file', member, value: mediaTypeOf(kind, format) }];
}

const isInline = (block: PlacedBlock): boolean => typeof sourceOf(block).bytes === 'string';

// Returns the features that a call needs from a candidate, and the fields that request them.

export function readNeeds(
  { raw, stream }: Pick<ConverseMembers, 'raw' | 'stream'>,
  { textBytes, contexts }: Pick<CallSize, 'textBytes' | 'contexts'>,
): RequestNeeds {
  const declared = declaredTools(raw.toolConfig);
  const [image, audio] = [pathOfKind(raw.messages, 'image'), pathOfKind(raw.messages, 'audio')];
  const features: Feature[] = [
    ...(declared.some(({ tool }) => 'toolSpec' in tool)
      ? [{ name: 'tools', member: 'toolConfig.tools' } as const]
      : []),
    ...(image === undefined ? [] : [{ name: 'vision', member: image } as const]),
    ...(audio === undefined ? [] : [{ name: 'audio', member: audio } as const]),
    ...(stream ? [{ name: 'streaming', member: 'converse-stream' } as const] : []),
    ...dearerOf(raw),
    ...dearerTools(
      declared.map(({ tool }) => asTyped(tool)),
      (index) => declared[index]?.path ?? 'toolConfig.tools',
    ),
  ];
  return { features, schemaMember: schemaMemberOf(raw), storingMember: undefined, promptBytes: textBytes / contexts };
}

/**
 * Returns a tool with the type in the list of more expensive tools. Bedrock's own tools have the names of their
 * services.
 */
function asTyped(tool: JsonObject): JsonObject {
  const { toolSpec, systemTool } = tool;
  if (isJsonObject(toolSpec)) return { type: 'custom', name: toolSpec.name };
  const name = isJsonObject(systemTool) ? String(systemTool.name) : '';
  return { type: systemTools[name] ?? `system_${name}` };
}

/** Types of system tools (docs.aws.amazon.com/nova/latest/nova2-userguide, "System tools", November 2026). */
const systemTools: Readonly<Record<string, string>> = {
  nova_grounding: 'web_search',
  nova_code_interpreter: 'code_interpreter',
};

const usualTiers: readonly unknown[] = ['default', 'flex'];

/**
 * Returns the more expensive features. Tiers, a faster machine and guardrails have prices of their own, and betas of
 * Claude may enlarge the window.
 */
function dearerOf(raw: JsonObject): readonly Feature[] {
  const { serviceTier, performanceConfig, guardrailConfig, additionalModelRequestFields: more } = raw;
  const tier = isJsonObject(serviceTier) ? serviceTier.type : undefined;
  const latency = isJsonObject(performanceConfig) ? performanceConfig.latency : undefined;
  const fields = isJsonObject(more) ? more : {};
  const inside = dearerFeatures(fields, { usualTiers: ['auto', 'standard_only', ...usualTiers] });
  return [
    ...((tier ?? null) === null || usualTiers.includes(tier)
      ? []
      : [{ extra: 'service_tier', member: 'serviceTier' } as const]),
    ...(latency === 'optimized' ? [{ extra: 'service_tier', member: 'performanceConfig.latency' } as const] : []),
    ...(isSent(guardrailConfig) ? [{ extra: 'guardrails', member: 'guardrailConfig' } as const] : []),
    ...dearerTools(fields.tools, (index) => `additionalModelRequestFields.tools[${index}]`),
    ...inside.map((one) => ('member' in one ? { ...one, member: `additionalModelRequestFields.${one.member}` } : one)),
  ];
}

function schemaMemberOf({ outputConfig }: JsonObject): string | undefined {
  const format = isJsonObject(outputConfig) ? outputConfig.textFormat : undefined;
  return isJsonObject(format) && format.type === 'json_schema' ? 'outputConfig.textFormat' : undefined;
}
