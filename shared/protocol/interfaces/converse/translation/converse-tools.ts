// Tools and the choice among them. Tools that Bedrock runs itself are dropped and reported.
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import {
  leftOutFields,
  markOf,
  type OptionalMember,
  type ToolNames,
  toInputSchema,
  withMark,
} from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { blockOf } from '../block-kinds.ts';
import { toolFields } from './converse-fields.ts';

interface ConverseToolOptions {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  readonly parallelToolCalls: boolean | undefined;
  readonly leftOut: readonly OptionalMember[];
}

/** `claudeChoice`: the choice in Claude's own form, beside which Bedrock takes no other. */
export function toToolOptions(toolConfig: unknown, claudeChoice: unknown, names: ToolNames): ConverseToolOptions {
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
    // Said outright: some targets take a tool that says nothing for a strict one.
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
