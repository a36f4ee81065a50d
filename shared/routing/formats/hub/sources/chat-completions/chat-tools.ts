// Tools, the choice among them, and the form of the answer.
import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { isJsonObject } from '../../../../../protocol/wire/index.ts';
import { cacheMark } from '../../middle/index.ts';

type Json = Readonly<Record<string, unknown>>;

export type ToolOptions = Pick<LanguageModelV4CallOptions, 'tools' | 'toolChoice'>;

export function toToolOptions({ tools, tool_choice: choice }: Json): ToolOptions {
  const list = (Array.isArray(tools) ? tools : []).filter(isJsonObject).flatMap(toTool);
  if (list.length === 0) return {};
  if (isJsonObject(choice) && choice.type === 'allowed_tools')
    return allowedTools(list, choice.allowed_tools ?? choice);
  const toolChoice = toChoice(choice);
  return { tools: list, ...(toolChoice === undefined ? {} : { toolChoice }) };
}

function toTool(tool: Json): LanguageModelV4FunctionTool[] {
  if (!isJsonObject(tool.function)) return [];
  const { name, description, parameters, strict } = tool.function;
  return [
    {
      type: 'function',
      name: typeof name === 'string' ? name : '',
      ...(typeof description === 'string' ? { description } : {}),
      inputSchema: toInputSchema(parameters),
      ...(typeof strict === 'boolean' ? { strict } : {}),
      ...cacheMark(tool.cache_control),
    },
  ];
}

/** Targets want its type said, also where a function has no parameters. */
const toInputSchema = (parameters: unknown): JSONSchema7 =>
  isJsonObject(parameters) && parameters.type !== undefined
    ? parameters
    : { type: 'object', properties: {}, ...(isJsonObject(parameters) ? parameters : {}) };

function toChoice(choice: unknown): ToolOptions['toolChoice'] {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  const fn = isJsonObject(choice) && isJsonObject(choice.function) ? choice.function : {};
  return typeof fn.name === 'string' ? { type: 'tool', toolName: fn.name } : undefined;
}

/** A choice among some of the tools: only those go out. */
function allowedTools(list: LanguageModelV4FunctionTool[], allowed: unknown): ToolOptions {
  const { mode, tools } = isJsonObject(allowed) ? allowed : {};
  const named = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  const names = new Set(named.map(({ name, function: fn }) => (isJsonObject(fn) ? fn.name : name)));
  const toolChoice = toChoice(mode);
  return { tools: list.filter(({ name }) => names.has(name)), ...(toolChoice === undefined ? {} : { toolChoice }) };
}

/** What a schema of `true` takes. */
const anyObject: JSONSchema7 = { type: 'object', additionalProperties: true };

/** Without a schema: `json_object`. */
export function toResponseFormat(format: unknown): Pick<LanguageModelV4CallOptions, 'responseFormat'> {
  if (!isJsonObject(format)) return {};
  if (format.type === 'json_object') return { responseFormat: { type: 'json' } };
  if (format.type !== 'json_schema' || !isJsonObject(format.json_schema)) return {};
  const { schema, name, description } = format.json_schema;
  return {
    responseFormat: {
      type: 'json',
      schema: isJsonObject(schema) ? schema : anyObject,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof description === 'string' ? { description } : {}),
    },
  };
}
