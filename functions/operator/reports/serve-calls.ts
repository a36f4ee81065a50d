// Serves GET /v1/manage/calls and /v1/manage/calls/{id}, which show the records of calls, with providers' texts about
// failures. A record has no prompt and no answer.
import {
  type CallRecord,
  csvHeader,
  csvLine,
  operatorCallDocument,
} from '../../../shared/accounting/call-records/index.ts';
import {
  type CallPageQuery,
  findCall,
  isCallPosition,
  matchesFilter,
  readCallPage,
} from '../../../shared/accounting/reports/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { timeOfUuidv7 } from '../../../shared/foundation/ids/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import type { Operator } from '../request/identify-operator.ts';
import { inTurn } from '../request/in-turn.ts';
import { type ManageRequest, type RouteWork, TextAnswer } from '../request/manage.ts';
import { fromCursor, toCursor } from '../request/pages.ts';
import { seenCalls } from '../request/seen-calls.ts';

export const listCalls: RouteWork<'GET /calls'> = async (deps, request) => {
  const { since, workspace, tag: tags, before, limit, ...filter } = request.query;
  const nowMs = deps.clock.nowMs();
  const query = {
    ...(await seenCalls(deps, request.operator, workspace)),
    sinceMs: nowMs - since,
    nowMs,
    before: fromCursor(before, 'before', isCallPosition),
    limit,
    matches: (record: CallRecord) => matchesFilter(record, { ...filter, tags }),
  };
  if (wantsCsv(request)) return csvInTurn(query);
  const page = await readCallPage(query);
  const next_cursor = page.next === undefined ? null : toCursor(page.next);
  return { data: page.calls.map(operatorCallDocument), next_cursor };
};

/** Only one CSV is built at a time, because it needs as much memory as an overview. */
const csvInTurn = inTurn(callsAsCsv);

const wantsCsv = ({ headers }: ManageRequest<'GET /calls'>): boolean =>
  (headers.accept ?? []).some((one) => one.includes('text/csv'));

export const showCall: RouteWork<'GET /calls/{id}'> = async (deps, { operator, names: { id } }) => ({
  data: operatorCallDocument(await readSeenCall(deps, operator, id)),
});

/** Returns the record. Throws not_found if the operator may see no call of this id. */
export async function readSeenCall(deps: ManagementDependencies, operator: Operator, id: string): Promise<CallRecord> {
  const madeAtMs = timeOfUuidv7(id.toLowerCase());
  const range = { sinceMs: 0, beforeMs: 0 };
  const found =
    madeAtMs === undefined ? undefined : await findCall({ ...(await seenCalls(deps, operator)), ...range }, id);
  if (found !== undefined) return found;
  throw fail('not_found', {
    message: 'There is no record of a call with this id: it is the x-request-id of the answer.',
  });
}

// Lists all calls that a filter finds as CSV. Each call is one line, and the newest call comes first.

/** Maximum number of characters of an answer, below the 6 MB that Lambda allows. */
const csvMaxCharacters = 5_000_000;
/** Maximum number of pages; each reads a bounded number of calls. */
const pagesMax = 250;
const pageCalls = 1_000;

/**
 * Returns the CSV. If there are more calls than an answer may contain, the header `x-next-cursor` has the position of
 * the remaining calls, which the client sends as `before`.
 */
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
