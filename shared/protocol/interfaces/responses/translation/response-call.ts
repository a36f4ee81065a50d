// Converts a Responses request to a call of the hub. Fields that not every target supports are optional: the call
// reports the dropped ones.

import {
  fieldsInside,
  type HubCall,
  leftOutFields,
  type MembersRead,
  markedMembers,
  numberOption,
  type OptionalMember,
  type OptionalName,
  otherMembers,
  type ReasoningPreference,
  toResponseFormat,
  withTopMarks,
} from '../../../hub/index.ts';
import { isEffort, isJsonObject, type JsonObject } from '../../../wire/index.ts';
import { reasoningFields, textFields, useInInput } from './item-fields.ts';
import { type ResponsePromptReading, toPrompt } from './response-prompt.ts';
import { toToolOptions } from './response-tools.ts';

export async function toHubCall(body: JsonObject, reading: ResponsePromptReading): Promise<HubCall> {
  const format = isJsonObject(body.text) && isJsonObject(body.text.format) ? body.text.format : {};
  // Read before the prompt, because declared tools have the first choice of names.
  const { tools, toolChoice, leftOut } = toToolOptions(body, reading.clientTools);
  await reading.nextStep();
  const { prompt, strangers } = await toPrompt(body, reading);
  const call: HubCall = {
    prompt,
    ...numberOption('temperature', body.temperature),
    ...numberOption('topP', body.top_p),
    ...toResponseFormat(format.type, format),
    ...(tools.length === 0 ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
    reasoning: readReasoning(body.reasoning),
    parallelToolCalls: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : undefined,
    optional: [...leftOut, ...(await readOptional(body, reading.nextStep)), ...strangers],
  };
  return withTopMarks(call, body);
}

function readReasoning(reasoning: unknown): ReasoningPreference | undefined {
  const { effort } = isJsonObject(reasoning) ? reasoning : {};
  return effort === 'none' || isEffort(effort) ? effort : undefined;
}

/** Fields that the call carries, that the gateway reads itself, or that it needs. */
const bodyMembers = new Set([
  ...['model', 'models', 'provider', 'cache', 'preset', 'stream', 'background', 'input', 'instructions', 'tools'],
  ...['tool_choice', 'parallel_tool_calls', 'max_output_tokens', 'temperature', 'top_p', 'reasoning', 'text'],
  ...['previous_response_id', 'conversation', 'prompt', 'store', 'truncation', 'top_logprobs', 'service_tier'],
]);

const optionalNames = new Map<string, OptionalName>([
  ['metadata', 'metadata'],
  ['user', 'user'],
  ['safety_identifier', 'safety_identifier'],
  ['prompt_cache_key', 'cache_key'],
  ['prompt_cache_options', 'cache_options'],
  ['cache_control', 'cache_marks'],
  ['context_management', 'context_management'],
  // No target has words for these.
  ['access_programs', 'other'],
  ['background_options', 'other'],
  ['image', 'other'],
  ['include', 'other'],
  ['max_tool_calls', 'other'],
  ['moderation', 'other'],
  ['prompt_cache_retention', 'other'],
  ['stream_options', 'other'],
]);

/** Defaults of every model. */
const usualTiers: ReadonlySet<unknown> = new Set(['auto', 'default']);
const isSent = (value: unknown): boolean =>
  (value ?? null) !== null && !(Array.isArray(value) && value.length === 0) && !(isJsonObject(value) && isEmpty(value));
const isEmpty = (members: JsonObject): boolean => Object.keys(members).length === 0;

export const responseMembers: MembersRead = { read: bodyMembers, names: optionalNames, isSent };
const membersIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

async function readOptional(body: JsonObject, nextStep: () => Promise<void>): Promise<OptionalMember[]> {
  const [text, reasoning] = [membersIn(body.text), membersIn(body.reasoning)];
  const { effort } = reasoning;
  const optional = (name: OptionalName, member: string, value: unknown, isAsked = isSent(value)): OptionalMember[] =>
    isAsked ? [{ name, member, value }] : [];
  return [
    ...markedMembers({ input: body.input }, body.tools),
    ...otherMembers(body, responseMembers),
    ...optional('verbosity', 'text.verbosity', text.verbosity),
    ...leftOutFields(text, textFields, 'text.'),
    ...optional('thinking', 'reasoning.effort', effort, isSent(effort) && effort !== 'none'),
    ...leftOutFields(reasoning, reasoningFields, 'reasoning.'),
    ...optional('serial_calls', 'parallel_tool_calls', false, body.parallel_tool_calls === false),
    ...optional(
      'service_tier',
      'service_tier',
      body.service_tier,
      isSent(body.service_tier) && !usualTiers.has(body.service_tier),
    ),
    ...optional('other', 'truncation', body.truncation, body.truncation === 'auto'),
    ...optional('store', 'store', body.store, body.store === true),
    ...(await fieldsInside('input', body.input, useInInput, nextStep)),
  ];
}
