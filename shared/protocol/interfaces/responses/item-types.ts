// Lists all input items of a Responses request, with the translation of each to another format.
import type { JsonObject } from '../../wire/index.ts';
import { ownItemKind, type PartUse, unknownPart } from '../index.ts';

const uses: Readonly<Record<string, PartUse>> = {
  message: 'carried',
  reasoning: 'carried',
  function_call: 'carried',
  function_call_output: 'carried',
  custom_tool_call: 'carried',
  custom_tool_call_output: 'carried',
  local_shell_call: 'carried',
  local_shell_call_output: 'carried',
  shell_call: 'carried',
  shell_call_output: 'carried',
  apply_patch_call: 'carried',
  apply_patch_call_output: 'carried',
  tool_search_call: 'carried',
  tool_search_output: 'carried',
  computer_call: 'carried',
  computer_call_output: 'carried',
  additional_tools: 'carried',
  image_generation_call: 'carried',
  web_search_call: 'as_text',
  file_search_call: 'as_text',
  code_interpreter_call: 'as_text',
  mcp_call: 'as_text',
  mcp_list_tools: 'as_text',
  mcp_approval_request: 'as_text',
  mcp_approval_response: 'as_text',
  configuration_update: 'left_out',
  program: 'left_out',
  program_output: 'left_out',
  item_reference: { needs: 'item_reference' },
  compaction: { needs: 'compaction' },
  compaction_trigger: { needs: 'compaction' },
};

export const itemRoles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer']);

/** Returns the type. An item without a type is a message, and an item with neither type nor role a reference. */
export function itemType({ type, role, id }: JsonObject): string {
  if (typeof type === 'string') return type;
  if ((type ?? null) !== null) return 'unknown';
  return (role ?? null) === null && (id ?? null) !== null ? 'item_reference' : 'message';
}

export function itemUse(item: JsonObject): PartUse {
  const type = itemType(item);
  // The model does without thinking that the client does not send itself.
  if (type === 'item_reference' && ownItemKind(item.id) === 'rs') return 'left_out';
  if (Object.hasOwn(uses, type)) return uses[type] ?? unknownPart;
  if (type.startsWith('input_')) return 'carried';
  return type.includes('compaction') ? { needs: 'compaction' } : unknownPart;
}

export const isListedItem = (type: string): boolean => Object.hasOwn(uses, type);
