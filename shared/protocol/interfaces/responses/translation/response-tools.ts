// Tools and the choice among them. Tools that a client runs are functions for other models; those that only OpenAI runs
// are dropped and reported.
import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { cacheMark, type OptionalMember, toInputSchema } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { type DeclaredTool, declaredTools, isNeedless, meantBy } from '../declared-tools.ts';
import type { ClientTool, ClientTools } from './client-tools.ts';
import { freeformParameters } from './freeform-input.ts';
import { leftOutOfTool } from './item-fields.ts';
import { type OwnToolType, ownTools } from './own-tools.ts';

interface ResponseToolOptions {
  readonly tools: LanguageModelV4FunctionTool[];
  readonly toolChoice: LanguageModelV4CallOptions['toolChoice'];
  readonly leftOut: readonly OptionalMember[];
}

export function toToolOptions(body: JsonObject, clientTools: ClientTools): ResponseToolOptions {
  const declared = [...declaredTools(body)];
  const callable = declared.filter(({ isCallable }) => isCallable);
  // One that is declared again, in mid-conversation, is meant as it is there.
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

/** As in `tools.web_search`: without its version, which means nothing to a reader. */
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
    // Said outright: some targets take a tool that says nothing for a strict one.
    strict: strict === true,
    ...cacheMark(tool),
  };
}

type Named = ReadonlyMap<string, DeclaredTool>;

function namesMeant(choices: readonly JsonObject[], tools: Named): string[] {
  const isMeant = meantBy(choices);
  return [...tools].flatMap(([name, one]) => (isMeant(one) ? [name] : []));
}

/** A choice among some of the tools: only those are sent. */
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
