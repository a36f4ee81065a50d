// Tools, the choice among them, and the form of the answer.
import type { JSONSchema7, LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { isJsonObject } from '../../../protocol/wire/index.ts';
import { optionsOf } from './content-parts.ts';
import type { TranslatedApi } from './translated-api.ts';

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
      ...optionsOf(tool),
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
  const names = named.map(({ name, function: fn }) => (isJsonObject(fn) ? fn.name : name));
  const tools_ = list.filter(({ name }) => names.includes(name));
  const toolChoice = toChoice(mode);
  return { tools: tools_, ...(toolChoice === undefined ? {} : { toolChoice }) };
}

/** JSON of any form. */
const anyObject: JSONSchema7 = { type: 'object', additionalProperties: true };

/** A schema that holds nothing fast: Claude is made to call a tool with it, because its own JSON mode wants a closed one. */
export function toResponseFormat(
  format: unknown,
  api: TranslatedApi,
  hasTools: boolean,
): Pick<LanguageModelV4CallOptions, 'responseFormat'> & { readonly isAnyJson: boolean } {
  if (!isJsonObject(format)) return { isAnyJson: false };
  if (format.type === 'json_object') {
    // Gemini has a JSON mode of its own, but not beside tools.
    const isOwn = api === 'generate-content' && !hasTools;
    return { responseFormat: { type: 'json', ...(isOwn ? {} : { schema: anyObject }) }, isAnyJson: true };
  }
  if (format.type !== 'json_schema' || !isJsonObject(format.json_schema)) return { isAnyJson: false };
  const { schema, name, description } = format.json_schema;
  return {
    isAnyJson: false,
    responseFormat: {
      type: 'json',
      schema: (isJsonObject(schema) ? schema : anyObject) as JSONSchema7,
      ...(typeof name === 'string' ? { name } : {}),
      ...(typeof description === 'string' ? { description } : {}),
    },
  };
}
