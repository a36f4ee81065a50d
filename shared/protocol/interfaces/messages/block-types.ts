// Lists all content blocks of a Messages request, with the translation of each to another format.
import { type PartUse, unknownPart } from '../index.ts';

const uses: Readonly<Record<string, PartUse>> = {
  text: 'carried',
  image: 'carried',
  document: 'carried',
  search_result: 'carried',
  thinking: 'carried',
  redacted_thinking: 'carried',
  tool_use: 'carried',
  tool_result: 'carried',
  tool_reference: 'carried',
  tool_addition: 'carried',
  tool_removal: 'carried',
  server_tool_use: 'as_text',
  mcp_tool_use: 'as_text',
  mcp_tool_result: 'as_text',
  web_search_tool_result: 'as_text',
  web_fetch_tool_result: 'as_text',
  code_execution_tool_result: 'as_text',
  bash_code_execution_tool_result: 'as_text',
  text_editor_code_execution_tool_result: 'as_text',
  tool_search_tool_result: 'as_text',
  advisor_tool_result: 'as_text',
  browser_state: 'as_text',
  fallback: 'left_out',
  mcp_tool_listing: 'left_out',
  container_upload: { needs: 'file_id' },
  compaction: { needs: 'compaction' },
};

export const messageRoles: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);
export const toolChoiceTypes: ReadonlySet<unknown> = new Set(['auto', 'any', 'tool', 'none']);

/** Matches the results of tools that a provider runs, including tools that do not exist yet. */
const laterResult = /^[a-z_]+_tool_result$/;
const laterCompaction = /^compaction/;

export function blockUse(type: unknown): PartUse {
  if (typeof type !== 'string') return unknownPart;
  if (Object.hasOwn(uses, type)) return uses[type] ?? unknownPart;
  if (laterResult.test(type)) return 'as_text';
  return laterCompaction.test(type) ? { needs: 'compaction' } : unknownPart;
}

export const isListedBlock = (type: string): boolean => Object.hasOwn(uses, type);
