// Lists the fields of messages, parts and tools of a chat completion, and the fields of a request that no other model
// gets.

import { type FieldUses, fieldUses, leftOutFields, type ObjectUse, type OptionalMember } from '../../../hub/index.ts';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';

/**
 * Fields of cache marks, which are reported separately. A call in the former format makes the planner skip the
 * candidate.
 */
const marks = 'cache_control prompt_cache_breakpoint';
const messageFields: Readonly<Record<string, FieldUses>> = {
  system: fieldUses(`role content ${marks}`, 'name'),
  developer: fieldUses(`role content ${marks}`, 'name'),
  user: fieldUses(`role content ${marks}`, 'name'),
  assistant: fieldUses(
    `role content refusal tool_calls function_call audio images reasoning reasoning_details ${marks}`,
    'annotations name reasoning_content',
  ),
  tool: fieldUses(`role content tool_call_id name ${marks}`),
  // A message with any other field is refused.
  function: fieldUses('role content name'),
};

const partFields: Readonly<Record<string, FieldUses>> = {
  text: fieldUses(`type text ${marks}`),
  refusal: fieldUses('type refusal'),
  image_url: fieldUses(`type image_url ${marks}`),
  input_audio: fieldUses(`type input_audio ${marks}`),
  file: fieldUses(`type file ${marks}`),
};

/** Fields inside a part, and inside a tool, under the name of its type. */
const innerFields: Readonly<Record<string, FieldUses>> = {
  image_url: fieldUses('url file_id', '', [['detail', 'image_detail']]),
  input_audio: fieldUses('data format'),
  file: fieldUses('file_data file_id filename'),
};

const callFields = fieldUses('id type index function custom extra_content');
/** Fields of a tool. A tool whose input is not JSON makes the planner skip the candidate. */
export const toolFields: FieldUses = fieldUses(`type function custom ${marks}`);
export const functionFields: FieldUses = fieldUses('name description parameters strict');

const ownOf = (uses: Readonly<Record<string, FieldUses>>, name: unknown): FieldUses | undefined =>
  typeof name === 'string' && Object.hasOwn(uses, name) ? uses[name] : undefined;

const fieldsOfRole = (role: unknown): FieldUses | undefined => ownOf(messageFields, role);
const fieldsOfPart = (type: unknown): FieldUses | undefined => ownOf(partFields, type);
const fieldsInPart = (type: unknown): FieldUses | undefined => ownOf(innerFields, type);

export function useInMessages({ role, type }: JsonObject): ObjectUse {
  const roleFields = fieldsOfRole(role);
  if (roleFields !== undefined) return { '': roleFields };
  if (isCall(type)) return { '': callFields };
  const [uses, inner] = [fieldsOfPart(type), fieldsInPart(type)];
  if (uses === undefined) return 'as_text';
  return inner === undefined ? { '': uses } : { '': uses, [String(type)]: inner };
}

const isCall = (type: unknown): boolean => type === 'function' || type === 'custom';

export const leftOutOfTools = (tools: unknown): OptionalMember[] =>
  (Array.isArray(tools) ? tools.filter(isJsonObject) : []).flatMap((tool) => [
    ...leftOutFields(tool, toolFields, 'tools.'),
    ...leftOutFields(tool.function, functionFields, 'tools.function.'),
  ]);
