// All calls that a filter finds, as CSV: one line each, the newest first.
import { type CallDocument, callDocument, describePath } from '../../../shared/accounting/call-records/index.ts';
import { type CallPageQuery, readCallPage } from '../../../shared/accounting/reports/index.ts';
import { TextAnswer } from '../request/manage.ts';
import { toCursor } from '../request/pages.ts';

/** Lambda gives an answer of 6 MB at the most. */
const csvMaxCharacters = 5_000_000;
/** Each looks at a bounded number of calls. */
const pagesMax = 50;
const pageCalls = 1_000;

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

/** Where there are more than an answer may hold, the header `x-next-cursor` says from where on: it goes back as `before`. */
export async function callsAsCsv(query: Omit<CallPageQuery, 'limit'>): Promise<TextAnswer> {
  const lines = [[...columns, 'path'].join(',')];
  let characters = 0;
  let before = query.before;
  for (let page = 0; page < pagesMax && characters < csvMaxCharacters; page += 1) {
    const { calls, next } = await readCallPage({ ...query, before, limit: pageCalls });
    for (const call of calls) {
      const document = callDocument(call);
      const line = [...columns.map((name) => cell(document[name])), cell(describePath(call))].join(',');
      characters += line.length;
      lines.push(line);
    }
    before = next;
    if (next === undefined) break;
  }
  const more = before === undefined ? {} : { 'x-next-cursor': toCursor(before) };
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="calls.csv"',
    'x-content-type-options': 'nosniff',
    ...more,
  };
  return new TextAnswer(headers, `${lines.join('\r\n')}\r\n`);
}

/** What a spreadsheet takes for the beginning of a formula stands behind an apostrophe. */
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
