// What a response repeats of its request, with every member that the clients' SDKs declare. Of answers that the gateway writes itself.

import { isJsonObject, type JsonObject } from '../../wire/index.ts';

/** The text of an object. Members that are left out or null become what the call was made with. */
export function responseSettings(body: JsonObject): string {
  const { effort = null, summary = null } = membersIn(body.reasoning);
  const { format, verbosity } = membersIn(body.text);
  const said = (member: string, otherwise: unknown = null) => body[member] ?? otherwise;
  const members = {
    access_programs: null,
    background: false,
    conversation: null,
    instructions: said('instructions'),
    max_output_tokens: said('max_output_tokens'),
    max_tool_calls: said('max_tool_calls'),
    metadata: said('metadata', {}),
    parallel_tool_calls: said('parallel_tool_calls', true),
    previous_response_id: null,
    prompt: null,
    prompt_cache_key: said('prompt_cache_key'),
    prompt_cache_retention: said('prompt_cache_retention'),
    reasoning: { effort, summary },
    safety_identifier: said('safety_identifier'),
    service_tier: said('service_tier', 'default'),
    // The gateway keeps no answer under its id.
    store: false,
    temperature: said('temperature', 1),
    text: { format: format ?? { type: 'text' }, ...((verbosity ?? null) === null ? {} : { verbosity }) },
    tool_choice: said('tool_choice', 'auto'),
    top_logprobs: 0,
    top_p: said('top_p', 1),
    frequency_penalty: 0,
    presence_penalty: 0,
    truncation: 'disabled',
    ...(typeof body.user === 'string' ? { user: body.user } : {}),
  };
  const tools = (Array.isArray(body.tools) ? body.tools : []).map(wholeTool);
  return `${JSON.stringify(members).slice(0, -1)},"tools":[${tools.join(',')}]}`;
}

const membersIn = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

/** Of a function the SDKs declare these as required. */
const functionMembers = Object.entries({ description: null, parameters: null, strict: false });

/** Its text with what it lacks: a tool may be long, and a copy of it takes several times as long. */
function wholeTool(tool: unknown): string {
  const text = JSON.stringify(tool);
  if (!isJsonObject(tool) || tool.type !== 'function') return text;
  const missing = functionMembers.filter(([name]) => tool[name] === undefined);
  return missing.length === 0 ? text : `${text.slice(0, -1)},${JSON.stringify(Object.fromEntries(missing)).slice(1)}`;
}
