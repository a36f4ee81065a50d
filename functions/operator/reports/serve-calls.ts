// GET /v1/manage/calls and /v1/manage/calls/{id}: calls by their records, with what providers said of their failures. Never a prompt
// or an answer: a record has none.
import * as z from 'zod/mini';
import { operatorCallDocument } from '../../../shared/accounting/call-records/index.ts';
import { findCall, isCallPosition, matchesFilter, readCallPage } from '../../../shared/accounting/reports/index.ts';
import { id } from '../../../shared/configuration/administration/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { timeOfUuidv7 } from '../../../shared/foundation/ids/index.ts';
import { readTags } from '../../../shared/protocol/wire/index.ts';
import { anyText, sinceParameter } from '../request/forms.ts';
import type { Work } from '../request/manage.ts';
import { cursorParameter, fromCursor, limitParameter, toCursor } from '../request/pages.ts';
import { readQuery } from '../request/read-asked.ts';
import { seenCalls } from '../request/seen-calls.ts';

const parameters = z.strictObject({
  since: sinceParameter,
  workspace: z.optional(id),
  /** A name or a public id. */
  key: z.optional(anyText),
  model: z.optional(anyText),
  provider: z.optional(anyText),
  /** `team=search`; of several, with commas between them, all. */
  tag: z.optional(
    z.pipe(
      z
        .string()
        .check(z.refine((text) => readTags(text) !== undefined, { error: 'must be a tag such as team=search' })),
      z.transform((text) => readTags(text)),
    ),
  ),
  outcome: z.optional(z.literal('failed', { error: 'must be failed, or be left out' })),
  before: cursorParameter,
  limit: limitParameter,
});

export const listCalls: Work = async (deps, request) => {
  const { since, workspace, outcome, tag: tags, before, limit, ...filter } = readQuery(request, parameters);
  const nowMs = deps.clock.nowMs();
  const page = await readCallPage({
    ...(await seenCalls(deps, request.operator, workspace)),
    sinceMs: nowMs - since,
    nowMs,
    before: fromCursor(before, 'before', isCallPosition),
    limit,
    matches: (record) => matchesFilter(record, { ...filter, tags, failed: outcome === 'failed' }),
  });
  const next_cursor = page.next === undefined ? null : toCursor(page.next);
  return { data: page.calls.map(operatorCallDocument), next_cursor };
};

export const showCall: Work = async (deps, { operator, pathParameters: [callId = ''] }) => {
  const madeAtMs = timeOfUuidv7(callId.toLowerCase());
  const range = { sinceMs: 0, beforeMs: 0 };
  const found =
    madeAtMs === undefined ? undefined : await findCall({ ...(await seenCalls(deps, operator)), ...range }, callId);
  if (found !== undefined) return { data: operatorCallDocument(found) };
  throw fail('not_found', {
    message: 'There is no record of a call with this id: it is the x-request-id of the answer.',
  });
};
