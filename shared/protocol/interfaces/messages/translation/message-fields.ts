// Lists the fields of messages, blocks and tools of Messages, and the fields of a request that no other model gets.

import { type FieldUses, fieldUses, type ObjectUse } from '../../../hub/index.ts';
import type { JsonObject } from '../../../wire/index.ts';
import { blockUse } from '../block-types.ts';

/** Fields of a message; no other format has settings of one turn. */
const messageFields: FieldUses = fieldUses('role content output_config', 'clear_at');
const turnFields: FieldUses = fieldUses('', 'effort');

/** Fields of translated blocks. Cache marks are reported separately. */
const blockFields: Readonly<Record<string, FieldUses>> = {
  text: fieldUses('type cache_control text', 'citations'),
  image: fieldUses('type cache_control source', 'transformations'),
  document: fieldUses('type cache_control source title context', 'citations'),
  search_result: fieldUses('type cache_control source title content', 'citations'),
  thinking: fieldUses('type thinking signature'),
  redacted_thinking: fieldUses('type data'),
  tool_use: fieldUses('type cache_control id name input', 'caller toolset_name'),
  tool_result: fieldUses('type cache_control tool_use_id content is_error', 'toolset_name'),
  tool_reference: fieldUses('type cache_control tool_name'),
  tool_addition: fieldUses('type cache_control tool'),
  tool_removal: fieldUses('type cache_control tool'),
};

/** Returns the fields of a block; in blocks with another use all fields have that use. */
const fieldsOfBlock = (type: string): FieldUses | undefined =>
  Object.hasOwn(blockFields, type) ? blockFields[type] : undefined;

/**
 * Fields of a tool. The dropped fields concern Anthropic's own models, because the delivery of arguments in pieces
 * changes no answer.
 */
export const toolFields: FieldUses = fieldUses(
  'type name description input_schema strict cache_control defer_loading eager_input_streaming',
  'allowed_callers input_examples',
);

export const thinkingFields: FieldUses = fieldUses('type display budget_tokens', 'block_binding');
export const outputFields: FieldUses = fieldUses('effort format', 'task_budget');

const messageUse: ObjectUse = { '': messageFields, output_config: turnFields };

export function useInMessages({ type, role }: JsonObject): ObjectUse {
  if (typeof role === 'string') return messageUse;
  if (blockUse(type) === 'left_out') return 'left_out';
  const uses = typeof type === 'string' ? fieldsOfBlock(type) : undefined;
  return uses === undefined ? 'as_text' : { '': uses };
}
