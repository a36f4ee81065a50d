// All calls that a filter finds, as CSV: one line each, the newest first.
import { csvHeader, csvLine } from '../../../shared/accounting/call-records/index.ts';
import { type CallPageQuery, readCallPage } from '../../../shared/accounting/reports/index.ts';
import { TextAnswer } from '../request/manage.ts';
import { toCursor } from '../request/pages.ts';

/** Lambda gives an answer of 6 MB at the most. */
const csvMaxCharacters = 5_000_000;
/** Each looks at a bounded number of calls. */
const pagesMax = 250;
const pageCalls = 1_000;

/** Where there are more than an answer may hold, the header `x-next-cursor` says from where on: it goes back as `before`. */
export async function callsAsCsv(query: Omit<CallPageQuery, 'limit'>): Promise<TextAnswer> {
  const lines = [csvHeader];
  let characters = 0;
  let before = query.before;
  for (let page = 0; page < pagesMax && characters < csvMaxCharacters; page += 1) {
    const { calls, next } = await readCallPage({ ...query, before, limit: pageCalls });
    for (const line of calls.map(csvLine)) {
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
