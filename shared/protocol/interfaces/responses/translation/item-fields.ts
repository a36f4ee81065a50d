// Lists the fields of items, parts and tools of Responses, and the fields of a request that no other model gets.

import { type FieldUses, fieldUses, leftOutFields, type ObjectUse, type OptionalMember } from '../../../hub/index.ts';
import type { JsonObject } from '../../../wire/index.ts';
import { itemType, itemUse } from '../item-types.ts';

/** Fields that mean nothing to another model, such as the author and the state of an item. */
const usual = 'type id status created_by';
const itemFields: Readonly<Record<string, FieldUses>> = {
  message: fieldUses(`${usual} role content`, 'phase'),
  // Another model's thinking is dropped, and reported where it occurs first.
  reasoning: fieldUses(`${usual} summary content encrypted_content`),
  function_call: fieldUses(`${usual} call_id name namespace arguments`, 'async caller'),
  function_call_output: fieldUses(`${usual} call_id name namespace output`, 'caller'),
  custom_tool_call: fieldUses(`${usual} call_id name namespace input`, 'async caller'),
  custom_tool_call_output: fieldUses(`${usual} call_id output`, 'caller'),
  local_shell_call: fieldUses(`${usual} call_id action`),
  local_shell_call_output: fieldUses(`${usual} call_id output`),
  shell_call: fieldUses(`${usual} call_id action environment`, 'caller'),
  shell_call_output: fieldUses(`${usual} call_id output max_output_length`, 'caller'),
  apply_patch_call: fieldUses(`${usual} call_id operation`, 'caller'),
  apply_patch_call_output: fieldUses(`${usual} call_id output`, 'caller'),
  tool_search_call: fieldUses(`${usual} call_id arguments execution`),
  tool_search_output: fieldUses(`${usual} call_id tools execution`),
  computer_call: fieldUses(`${usual} call_id action actions pending_safety_checks`),
  computer_call_output: fieldUses(`${usual} call_id output acknowledged_safety_checks`),
  additional_tools: fieldUses(`${usual} role tools`),
  // Only the image is carried, because the way it was made means nothing to another model.
  image_generation_call: fieldUses(
    `${usual} result action background error output_format quality revised_prompt size svg_usage`,
  ),
};

const marks = 'cache_control prompt_cache_breakpoint';
const partFields: Readonly<Record<string, FieldUses>> = {
  input_text: fieldUses(`type text ${marks}`),
  input_image: fieldUses(`type image_url file_id ${marks}`, '', [['detail', 'image_detail']]),
  computer_screenshot: fieldUses(`type image_url file_id ${marks}`, '', [['detail', 'image_detail']]),
  input_file: fieldUses(`type file_data file_url file_id filename ${marks}`, 'detail'),
  input_audio: fieldUses(`type input_audio ${marks}`),
  output_text: fieldUses(`type text ${marks}`, 'annotations logprobs'),
  refusal: fieldUses('type refusal'),
};

/** Fields of tools by type. The format of a tool's output changes no answer. */
const toolFieldsOfTypes: Readonly<Record<string, FieldUses>> = {
  function: fieldUses(
    `type name description parameters strict defer_loading output_schema ${marks}`,
    'allowed_callers async',
  ),
  custom: fieldUses(`type name description format defer_loading ${marks}`, 'allowed_callers async'),
};

export const reasoningFields: FieldUses = fieldUses('effort summary generate_summary', 'context mode');
export const textFields: FieldUses = fieldUses('verbosity format');

const ownOf = (uses: Readonly<Record<string, FieldUses>>, name: unknown): FieldUses | undefined =>
  typeof name === 'string' && Object.hasOwn(uses, name) ? uses[name] : undefined;

/** Returns the fields of an item; in items with another use all fields have that use. */
const fieldsOfItem = (type: string): FieldUses | undefined => ownOf(itemFields, type);
const fieldsOfPart = (type: unknown): FieldUses | undefined => ownOf(partFields, type);
export const fieldsOfTool = (type: unknown): FieldUses | undefined => ownOf(toolFieldsOfTypes, type);

/** Returns the use of an item, which may be a part itself. */
export function useInInput(one: JsonObject): ObjectUse {
  const uses = fieldsOfPart(one.type);
  if (uses !== undefined) return { '': uses };
  if (itemUse(one) === 'left_out') return 'left_out';
  const typeFields = fieldsOfItem(itemType(one));
  return typeFields === undefined ? 'as_text' : { '': typeFields };
}

export const leftOutOfTool = (tool: JsonObject): OptionalMember[] => {
  const uses = fieldsOfTool(tool.type);
  return uses === undefined ? [] : leftOutFields(tool, uses, 'tools.');
};
