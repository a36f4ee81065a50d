// Converts a request of Gemini to a call of the hub. Fields that not every target supports are optional, and the call
// reports the fields that were dropped.
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import {
  type CallReader,
  collectFieldsInside,
  fieldUses,
  type HubCall,
  leftOutFields,
  type MembersRead,
  numberOption,
  type ObjectUse,
  type OptionalMember,
  otherMembers,
  type PromptReader,
  type ReasoningPreference,
  type ToolNames,
  toInputSchema,
} from '../../../hub/index.ts';
import { type Envelopes, isEffort, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { otherTools } from '../needs.ts';
import { callingConfigOf, functionsOf, generationConfigOf, ranByProvider } from '../parts.ts';
import { openPrompt } from './prompt.ts';

const config = 'generationConfig';

export function openHubCall(body: JsonObject, names: ToolNames, open: Envelopes['open']): CallReader {
  const prompt = openPrompt(body, { names, open });
  const fields = collectFieldsInside(useInContents);
  return {
    read(content, at) {
      prompt.read(content, at);
      fields.addList(content.parts, () => `contents[${at}].parts`);
    },
    end: () => toHubCall(body, names, prompt, fields.found),
  };
}

/** Converts the request. `inside` lists the fields inside the parts. */
function toHubCall(
  body: JsonObject,
  names: ToolNames,
  { prompt, unknownFields }: PromptReader,
  inside: readonly OptionalMember[],
): HubCall {
  const settings = generationConfigOf(body);
  const stops = Array.isArray(settings.stopSequences)
    ? settings.stopSequences.filter((one) => typeof one === 'string' && one !== '')
    : [];
  return {
    prompt,
    ...numberOption('temperature', settings.temperature),
    ...numberOption('topP', settings.topP),
    ...numberOption('topK', settings.topK),
    ...numberOption('seed', settings.seed),
    ...numberOption('frequencyPenalty', settings.frequencyPenalty),
    ...numberOption('presencePenalty', settings.presencePenalty),
    ...(stops.length === 0 ? {} : { stopSequences: stops }),
    ...toResponseFormat(settings),
    ...toToolOptions(body, names),
    reasoning: readReasoning(settings),
    parallelToolCalls: undefined,
    optional: [...readOptional(body, settings), ...inside, ...unknownFields],
  };
}

function toResponseFormat(settings: JsonObject): Pick<HubCall, 'responseFormat'> {
  const { responseSchema, responseJsonSchema, responseMimeType } = settings;
  if (isJsonObject(responseJsonSchema)) return { responseFormat: { type: 'json', schema: responseJsonSchema } };
  if (isJsonObject(responseSchema)) return { responseFormat: { type: 'json', schema: toJsonSchema(responseSchema) } };
  return responseMimeType === 'application/json' ? { responseFormat: { type: 'json' } } : {};
}

function toToolOptions(body: JsonObject, names: ToolNames): Pick<HubCall, 'tools' | 'toolChoice'> {
  const { mode, allowedFunctionNames } = callingConfigOf(body);
  const allowed: readonly unknown[] = Array.isArray(allowedFunctionNames) ? allowedFunctionNames : [];
  const declared = functionsOf(body.tools);
  const isForced = mode === 'ANY';
  // Only if a call is forced, or checked, does the list exclude the other functions.
  const isNarrowed = allowed.length > 0 && (isForced || mode === 'VALIDATED');
  const offered = isNarrowed ? declared.filter(({ name }) => allowed.includes(name)) : declared;
  const tools = offered.map((tool) => toTool(tool, names));
  const [only] = tools;
  if (only === undefined) return {};
  if (mode === 'NONE') return { tools, toolChoice: { type: 'none' } };
  if (!isForced) return { tools };
  return {
    tools,
    toolChoice: isNarrowed && tools.length === 1 ? { type: 'tool', toolName: only.name } : { type: 'required' },
  };
}

function toTool(
  { name, description, parameters, parametersJsonSchema }: JsonObject,
  names: ToolNames,
): LanguageModelV4FunctionTool {
  const schema = isJsonObject(parametersJsonSchema)
    ? parametersJsonSchema
    : isJsonObject(parameters)
      ? toJsonSchema(parameters)
      : undefined;
  return {
    type: 'function',
    name: names.short(typeof name === 'string' ? name : ''),
    ...(typeof description === 'string' ? { description } : {}),
    inputSchema: toInputSchema(schema),
    // The value is explicit, because some targets treat a tool without `strict` as strict.
    strict: false,
  };
}

/** Effort for a model that thinks as much as it chooses, as Gemini's do. */
const openEffort = 'medium';

function readReasoning({ thinkingConfig: thinking }: JsonObject): ReasoningPreference | undefined {
  if (!isJsonObject(thinking)) return undefined;
  const { thinkingBudget: tokens, thinkingLevel: level, includeThoughts } = thinking;
  const effort = typeof level === 'string' ? level.toLowerCase() : undefined;
  if (isEffort(effort)) return effort;
  if (tokens === 0) return 'none';
  if (typeof tokens === 'number') return tokens > 0 ? { budgetTokens: tokens } : openEffort;
  return includeThoughts === true ? openEffort : undefined;
}

/** Fields that the call carries, fields that the gateway reads itself, and fields that it needs. */
const bodyMembers = new Set([
  ...['model', 'models', 'provider', 'cache', 'contents', 'systemInstruction', 'tools', 'toolConfig'],
  ...['generationConfig', 'cachedContent'],
]);
const settingFields = new Set([
  ...['temperature', 'topP', 'topK', 'seed', 'frequencyPenalty', 'presencePenalty', 'stopSequences', 'maxOutputTokens'],
  ...['candidateCount', 'responseMimeType', 'responseSchema', 'responseJsonSchema', 'thinkingConfig', 'logprobs'],
  ...['responseLogprobs', 'responseModalities'],
]);

const isSent = (value: unknown): boolean =>
  (value ?? null) !== null && value !== false && !(Array.isArray(value) && value.length === 0);

const bodyRead: MembersRead = {
  read: bodyMembers,
  isSent,
  names: new Map([
    ['labels', 'metadata'],
    ['serviceTier', 'service_tier'],
  ]),
};
const settingsRead: MembersRead = { read: settingFields, isSent, path: `${config}.` };

const contentFields = fieldUses('role parts');
const partFields = fieldUses(
  'text thought thoughtSignature inlineData fileData functionCall functionResponse',
  'videoMetadata mediaResolution partMetadata',
);
const blobFields = fieldUses('mimeType data fileUri displayName');
const callFields = fieldUses('id name args');
const resultFields = fieldUses('id name response parts', 'willContinue scheduling');
const functionFields = fieldUses(
  'name description parameters parametersJsonSchema',
  'response responseJsonSchema behavior',
);

function useInContents(object: JsonObject): ObjectUse {
  if (Array.isArray(object.parts) && object.functionCall === undefined) return { '': contentFields };
  if (ranByProvider.some((name) => object[name] !== undefined)) return 'as_text';
  return {
    '': partFields,
    inlineData: blobFields,
    fileData: blobFields,
    functionCall: callFields,
    functionResponse: resultFields,
  };
}

function readOptional(body: JsonObject, settings: JsonObject): OptionalMember[] {
  const thinking = settings.thinkingConfig;
  return [
    ...otherMembers(body, bodyRead),
    ...otherMembers(settings, settingsRead),
    ...(readReasoning(settings) === undefined
      ? []
      : [
          {
            name: 'thinking',
            member: `${config}.thinkingConfig`,
            value: isJsonObject(thinking) ? (thinking.thinkingLevel ?? true) : true,
          } as const,
        ]),
    ...[...otherTools(body.tools)].map(
      ({ name }) => ({ name: 'provider_tool', member: `tools.${name}`, value: true }) as const,
    ),
    ...functionsOf(body.tools).flatMap((tool) => leftOutFields(tool, functionFields, 'tools.functionDeclarations.')),
  ];
}

// Converts Google's schema format, with types in capitals, `nullable`, and counts that may be strings, to JSON Schema.

const countFields: ReadonlySet<string> = new Set([
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'],
]);
/** Fields that only Google's format has. */
const otherFields: ReadonlySet<string> = new Set(['nullable', 'propertyOrdering', 'example']);
/** Formats for the storage of a value, which JSON Schema does not define. */
const otherFormats: ReadonlySet<unknown> = new Set(['enum', 'float', 'double', 'int32', 'int64']);

/** Converts a schema. It recurses within the depth of a body. */
function toJsonSchema(schema: unknown): JsonObject {
  if (!isJsonObject(schema)) return {};
  const read: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (otherFields.has(name) || (name === 'format' && otherFormats.has(value))) continue;
    if (name === 'type') Object.assign(read, typeOf(value, schema.nullable === true));
    else if (name === 'properties' && isJsonObject(value)) {
      read[name] = Object.fromEntries(
        Object.entries(value).map(([property, inner]) => [property, toJsonSchema(inner)]),
      );
    } else if (name === 'items') read[name] = toJsonSchema(value);
    else if (name === 'anyOf' && Array.isArray(value)) read[name] = anyOf(value, schema);
    else if (name === 'enum' && Array.isArray(value)) read[name] = schema.nullable === true ? [...value, null] : value;
    else if (countFields.has(name) && typeof value === 'string') read[name] = Number(value);
    else read[name] = value;
  }
  return read;
}

const anyOf = (schemas: readonly unknown[], { nullable, type }: JsonObject): readonly unknown[] => [
  ...schemas.map(toJsonSchema),
  ...(nullable === true && type === undefined ? [{ type: 'null' }] : []),
];

function typeOf(type: unknown, isNullable: boolean): { readonly type?: unknown } {
  if (typeof type !== 'string') return type === undefined ? {} : { type };
  if (type === 'TYPE_UNSPECIFIED') return {};
  const name = type.toLowerCase();
  return { type: isNullable && name !== 'null' ? [name, 'null'] : name };
}
