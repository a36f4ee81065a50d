// Writes the settings that a response repeats from its request, with every field that the clients' SDKs declare. These
// settings are for answers that the gateway writes itself.

import { isJsonObject, type JsonObject } from '../../wire/index.ts';

/** Returns the JSON text of an object. Absent and null fields get the values with which the call was made. */
export function responseSettings(body: JsonObject): string {
  const { effort = null, summary = null } = membersIn(body.reasoning);
  const { format, verbosity } = membersIn(body.text);
  const setting = (member: string, otherwise: unknown = null) => body[member] ?? otherwise;
  const members = {
    access_programs: null,
    background: false,
    conversation: null,
    instructions: setting('instructions'),
    max_output_tokens: setting('max_output_tokens'),
    max_tool_calls: setting('max_tool_calls'),
    metadata: setting('metadata', {}),
    parallel_tool_calls: setting('parallel_tool_calls', true),
    previous_response_id: null,
    prompt: null,
    prompt_cache_key: setting('prompt_cache_key'),
    prompt_cache_retention: setting('prompt_cache_retention'),
    reasoning: { effort, summary },
    safety_identifier: setting('safety_identifier'),
    service_tier: setting('service_tier', 'default'),
    // The gateway does not store answers under their ids.
    store: false,
    temperature: setting('temperature', 1),
    text: { format: format ?? { type: 'text' }, ...((verbosity ?? null) === null ? {} : { verbosity }) },
    tool_choice: setting('tool_choice', 'auto'),
    top_logprobs: 0,
    top_p: setting('top_p', 1),
    frequency_penalty: 0,
    presence_penalty: 0,
    truncation: 'disabled',
    ...(typeof body.user === 'string' ? { user: body.user } : {}),
  };
  const tools = (Array.isArray(body.tools) ? body.tools : []).map(wholeTool);
  return `${JSON.stringify(members).slice(0, -1)},"tools":[${tools.join(',')}]}`;
}

const membersIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Fields of a function that the SDKs declare as required. */
const functionMembers = Object.entries({ description: null, parameters: null, strict: false });

/**
 * Adds missing fields to the text of a tool, because the tool may be long, and parsing it would take several times as
 * long.
 */
function wholeTool(tool: unknown): string {
  const text = JSON.stringify(tool);
  if (!isJsonObject(tool) || tool.type !== 'function') return text;
  const missing = functionMembers.filter(([name]) => tool[name] === undefined);
  return missing.length === 0 ? text : `${text.slice(0, -1)},${JSON.stringify(Object.fromEntries(missing)).slice(1)}`;
}
