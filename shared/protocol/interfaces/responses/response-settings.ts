// What a response repeats of its request, with every member that the clients' SDKs declare. Of answers that the gateway writes itself.

import { isJsonObject } from '../../wire/index.ts';

type Json = Readonly<Record<string, unknown>>;

/** In the order in which OpenAI writes them. Members that are left out or null become what the call was made with. */
export function responseSettings(body: Json): Json {
  const { text, reasoning } = body;
  const said = (member: string, otherwise: unknown = null) => body[member] ?? otherwise;
  return {
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
    reasoning: { effort: null, summary: null, ...(isJsonObject(reasoning) ? reasoning : {}) },
    safety_identifier: said('safety_identifier'),
    service_tier: said('service_tier', 'default'),
    // The gateway keeps no answer under its id.
    store: false,
    temperature: said('temperature', 1),
    text: { format: { type: 'text' }, ...(isJsonObject(text) ? withoutNulls(text) : {}) },
    tool_choice: said('tool_choice', 'auto'),
    tools: (Array.isArray(body.tools) ? body.tools : []).map(wholeTool),
    top_logprobs: 0,
    top_p: said('top_p', 1),
    frequency_penalty: 0,
    presence_penalty: 0,
    truncation: 'disabled',
    ...(typeof body.user === 'string' ? { user: body.user } : {}),
  };
}

/** Of a function the SDKs declare these as required. */
const wholeTool = (tool: unknown): unknown =>
  isJsonObject(tool) && tool.type === 'function'
    ? {
        ...tool,
        description: tool.description ?? null,
        parameters: tool.parameters ?? null,
        strict: tool.strict ?? false,
      }
    : tool;

const withoutNulls = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
