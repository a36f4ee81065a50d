// Tools, and the choice among them.
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { cacheMark, toInputSchema } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';

type ChatToolOptions = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

export function toToolOptions({ tools, tool_choice: choice }: JsonObject): ChatToolOptions {
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

/** A choice among some of the tools: only those are sent. */
function allowedTools(list: LanguageModelV4FunctionTool[], allowed: unknown): ChatToolOptions {
  const { mode, tools } = isJsonObject(allowed) ? allowed : {};
  const named = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  const names = new Set(named.map(({ name, function: fn }) => (isJsonObject(fn) ? fn.name : name)));
  const toolChoice = toChoice(mode);
  return { tools: list.filter(({ name }) => names.has(name)), ...(toolChoice === undefined ? {} : { toolChoice }) };
}
