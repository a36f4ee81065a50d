// Serves GET /v1/manage/functions, and the routes below it for one function: its contents, its switches, and POST
// …/revisions, which publishes a revision.
import * as z from 'zod/mini';
import { changeFunction, readFunctions, showFunction } from '../../../shared/configuration/administration/index.ts';
import { id } from '../../../shared/configuration/value-forms/index.ts';
import { fail } from '../../../shared/errors/index.ts';
import { mayRead } from '../request/allowed.ts';
import type { RouteWork } from '../request/manage.ts';
import { pageOf } from '../request/pages.ts';
import { functionDocument, shownFunctionDocument } from './function-documents.ts';

export const listFunctions: RouteWork<'GET /functions'> = async (deps, request) => {
  const { workspace, ...page } = request.query;
  const seen = (await readFunctions(deps, workspace)).filter((one) => mayRead(request.operator, one.workspace));
  const { items, next_cursor } = pageOf(seen, page, (one) => [one.workspace, one.id]);
  return { data: items.map((record) => functionDocument(record, deps.clock.nowMs())), next_cursor };
};

/** Loads a YAML parser and writer. */
const loadGatewayFile = () => import('../../../shared/configuration/gateway-file/index.ts');

export const readFunction: RouteWork<'GET /functions/{workspace}/{id}'> = async (deps, { names }) => {
  const shown = await showFunction(deps, checkName(names));
  const { yamlText } = await loadGatewayFile();
  return { data: shownFunctionDocument(shown, deps.clock.nowMs(), yamlText) };
};

export const switchFunction =
  (kind: 'enable' | 'disable'): RouteWork<'POST /functions/{workspace}/{id}/enable'> =>
  async (deps, request) => {
    const name = checkName(request.names);
    const record = await changeFunction(deps, name, { kind });
    request.tellChange(`function ${kind}d`, `${name.workspace}/${name.id}`);
    return { data: functionDocument(record, deps.clock.nowMs()) };
  };

/** Makes a revision the active revision, and enables its function. */
export const activateRevision: RouteWork<'POST /functions/{workspace}/{id}/activate'> = async (deps, request) => {
  const name = checkName(request.names);
  const { revision } = request.body;
  const record = await changeFunction(deps, name, { kind: 'activate', revision });
  request.tellChange(`revision ${revision} activated`, `${name.workspace}/${name.id}`);
  return { data: functionDocument(record, deps.clock.nowMs()) };
};

/**
 * Publishes a revision, and makes its function if it does not exist. An activated revision never changes, so a new text
 * is a new revision.
 */
export const publishRevision: RouteWork<'POST /functions/{workspace}/{id}/revisions'> = async (deps, request) => {
  const { workspace, id: functionId } = checkName(request.names);
  const { kind, revision, id: revisionId, activate = false, skip_cases: skipsCases = false } = request.body;
  const { formatProblem, planPublication } = await loadGatewayFile();
  const publication = { workspace, functionId, kind, revision, revisionId, activates: activate, skipsCases };
  const plan = await planPublication(deps, publication);
  if (!plan.ok) {
    const [problem = { path: '', message: 'is not valid' }] = plan.problems;
    throw fail('invalid_request', { message: formatProblem(problem, 'revision'), param: problem.path || 'revision' });
  }
  const { change, record } = await plan.write();
  const what = `revision ${plan.revision.id} ${activate ? 'published and activated' : 'published'}`;
  if (change !== 'unchanged') request.tellChange(what, `${workspace}/${functionId}`);
  return { data: functionDocument(record, deps.clock.nowMs()) };
};

export function checkName(name: { readonly workspace: string; readonly id: string }) {
  if (Object.values(name).every((part) => z.safeParse(id, part).success)) return name;
  throw fail('not_found', { message: 'There is no such function.' });
}
