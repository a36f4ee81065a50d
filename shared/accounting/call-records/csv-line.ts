// A call as a line of CSV. What a spreadsheet takes for the beginning of a formula stands behind an apostrophe.
import { type CallDocument, callDocument } from './call-document.ts';
import { describePath } from './describe-path.ts';
import type { CallRecord } from './record-members.ts';

const columns = [
  'created_at',
  'id',
  'workspace',
  'outcome',
  'error_code',
  'status',
  'interface',
  'model',
  'model_asked',
  'provider',
  'function_id',
  'revision_id',
  'prompt_tokens',
  'cached_tokens',
  'completion_tokens',
  'cost_usd',
  'total_ms',
  'first_output_ms',
  'key_name',
  'key_public_id',
  'session_id',
  'user',
  'title',
  'tags',
] as const satisfies readonly (keyof CallDocument)[];

export const csvHeader = [...columns, 'path'].join(',');

export function csvLine(call: CallRecord): string {
  const document = callDocument(call);
  return [...columns.map((name) => cell(document[name])), cell(describePath(call))].join(',');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'object' ? tagsText(value) : String(value);
  const isFormula = /^[\s]*[=+\-@\t\r]/.test(text);
  return `"${(isFormula ? `'${text}` : text).replaceAll('"', '""')}"`;
}

const tagsText = (tags: object): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
