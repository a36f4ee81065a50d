// Performs a request of the management interface without HTTP. The command line performs requests in its own process,
// as an operator who may do everything in the opened store.
import { rightsOf } from '../../shared/configuration/access/index.ts';
import {
  type AnswerOf,
  type ManagementRoute,
  managementRoutes,
  type RouteName,
} from '../../shared/configuration/management/index.ts';
import { checkMembers } from '../../shared/protocol/wire/index.ts';
import type { ManagementDependencies } from './dependencies.ts';
import type { ManageRequest } from './request/manage.ts';
import { works } from './works.ts';

/** The operator of the command line. No record of changes is written, because the shell knows who ran a command. */
const operator = {
  id: 'command-line',
  name: 'command line',
  rights: rightsOf([{ role: 'owner', workspaces: 'all' }]),
  owner: undefined,
};

interface SentRequest {
  readonly names?: object;
  /** Query whose values are parsed already. A list is not cut into pages. */
  readonly query?: object;
  /** Body as a client writes it. */
  readonly body?: object;
}

interface Performed<Name extends RouteName> {
  readonly answer: AnswerOf<Name>;
  readonly isChanged: boolean;
}

/** Performs the request. Throws the errors of the work unchanged. */
export async function perform<Name extends RouteName>(
  deps: ManagementDependencies,
  name: Name,
  { names = {}, query = {}, body = {} }: SentRequest,
): Promise<Performed<Name>> {
  const { body: schema }: ManagementRoute = managementRoutes[name];
  const result = typeof schema === 'object' ? checkMembers(schema, body) : undefined;
  let isChanged = false;
  const tellChange = () => {
    isChanged = true;
  };
  const unpaged = { limit: Number.POSITIVE_INFINITY, ...query };
  const request = { names, query: unpaged, body: result, operator, headers: {}, tellChange };
  const answer = await works[name](deps, request as unknown as ManageRequest<Name>);
  // Only a header makes the answer a text, and this request has no header.
  return { answer: answer as AnswerOf<Name>, isChanged };
}
