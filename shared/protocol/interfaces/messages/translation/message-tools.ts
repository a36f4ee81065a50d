// Tools and the choice among them. Tools that only their own provider knows are dropped and reported.
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { cacheMark, leftOutFields, type OptionalMember, type ToolNames, toInputSchema } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { offeredTools } from '../offered-tools.ts';
import { toolFields } from './message-fields.ts';

interface MessageToolOptions {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  readonly parallelToolCalls: boolean | undefined;
  readonly leftOut: readonly OptionalMember[];
}

export function toToolOptions(body: JsonObject, names: ToolNames): MessageToolOptions {
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

/** A tool of the client's own says its schema. */
const isClientTool = ({ type, input_schema: schema }: JsonObject): boolean =>
  isJsonObject(schema) && ((type ?? 'custom') === 'custom' || type === null);

const versionSuffix = /_\d{8}$/;

/** As in `tools.web_search`: without its version, which means nothing to a reader. */
const nameOfTool = ({ type }: JsonObject, path: string): string =>
  typeof type === 'string' ? `tools.${type.replace(versionSuffix, '')}` : path;

function toTool(tool: JsonObject, names: ToolNames): LanguageModelV4FunctionTool {
  const { name, description, input_schema: schema, strict } = tool;
  return {
    type: 'function',
    name: names.short(typeof name === 'string' ? name : ''),
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: toInputSchema(schema),
    // Said outright: some targets take a tool that says nothing for a strict one.
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
