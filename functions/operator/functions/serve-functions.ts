// GET /v1/manage/functions, and POST /v1/manage/functions/{workspace}/{id}/{enable|disable|activate}.
import * as z from 'zod/mini';
import {
  activationSchema,
  changeFunction,
  id,
  readFunctions,
} from '../../../shared/configuration/administration/index.ts';
import type { ManagedFunction } from '../../../shared/configuration/management-documents/index.ts';
import type { FunctionRecord, RevisionRecord } from '../../../shared/configuration/stored-functions/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { mayRead } from '../request/allowed.ts';
import type { Work } from '../request/manage.ts';
import { pageOf, pageParameters } from '../request/pages.ts';
import { readBody, readQuery } from '../request/read-asked.ts';

const parameters = z.strictObject({ ...pageParameters, workspace: z.optional(id) });

export const listFunctions: Work = async (deps, request) => {
  const { workspace, ...page } = readQuery(request, parameters);
  const seen = (await readFunctions(deps, workspace)).filter((one) => mayRead(request.operator, one.workspace));
  const { items, next_cursor } = pageOf(seen, page, (one) => [one.workspace, one.id]);
  return { data: items.map((record) => functionDocument(record, deps.clock.nowMs())), next_cursor };
};

export const switchFunction =
  (kind: 'enable' | 'disable'): Work =>
  async (deps, request) => {
    const name = nameOf(request.pathParameters);
    const record = await changeFunction(deps, name, { kind });
    request.tellChange(`function ${kind}d`, `${name.workspace}/${name.id}`);
    return { data: functionDocument(record, deps.clock.nowMs()) };
  };

/** Makes a revision the one that serves, and the function serve again. */
export const activateRevision: Work = async (deps, request) => {
  const name = nameOf(request.pathParameters);
  const { revision } = await readBody(request, activationSchema);
  const record = await changeFunction(deps, name, { kind: 'activate', revision });
  request.tellChange(`revision ${revision} activated`, `${name.workspace}/${name.id}`);
  return { data: functionDocument(record, deps.clock.nowMs()) };
};

function nameOf([workspace = '', functionId = '']: readonly string[]) {
  const areIds = [workspace, functionId].every((part) => z.safeParse(id, part).success);
  if (areIds) return { workspace, id: functionId };
  throw fail('not_found', { message: 'There is no such function.' });
}

const instantOf = (epochMs: number | null): string | null =>
  epochMs === null ? null : new Date(epochMs).toISOString();

const functionDocument = (
  { workspace, id: functionId, kind, status, active, revisions }: FunctionRecord,
  nowMs: number,
): ManagedFunction => ({
  workspace,
  id: functionId,
  kind,
  status,
  active,
  revisions: [...revisions.values()].map((revision) => revisionDocument(revision, nowMs)),
});

const revisionDocument = (revision: RevisionRecord, nowMs: number): ManagedFunction['revisions'][number] => ({
  id: revision.id,
  // Expiry is not stored: every reader compares the time.
  state: revision.expiresAtMs !== null && revision.expiresAtMs <= nowMs ? 'expired' : revision.state,
  has_cases: revision.hasCases,
  qualified_at: instantOf(revision.qualifiedAtMs),
  activated_at: instantOf(revision.activatedAtMs),
  expires_at: instantOf(revision.expiresAtMs),
});
