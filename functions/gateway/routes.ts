// Lists the routes of the gateway's function. The function answers GET /v1/models too, so that a stage without a
// distribution still has one base URL.

import { okStatus } from '../../shared/errors/index.ts';
import { bedrockPaths, rootPaths, routePaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { interfaceList, type ListedRoute } from '../../shared/protocol/interface-list/index.ts';
import {
  createRouter,
  type Endpoint,
  jsonHeaders,
  modelListRules,
  type RouterDependencies,
} from '../../shared/protocol/router/index.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { createSend } from './provider/create-send.ts';
import { readBrokenCall } from './provider/open-stream.ts';
import { serveCall } from './serve.ts';
import type { StoredWork } from './stored-response/serve-stored-response.ts';

/** Reads the API description, which needs no key because it is the same for every caller. */
export type DescribeApi = () => Promise<string>;

/** Serves text that is read once and shared, so that many slow readers use one copy. */
function serveText(read: () => Promise<string>): Endpoint {
  let reading: Promise<string> | undefined;
  return async () => {
    reading ??= read().catch((cause) => {
      reading = undefined;
      throw cause;
    });
    return { status: okStatus, headers: jsonHeaders, body: await reading };
  };
}

/** Loads an endpoint with its first call, because few clients need it. */
function onFirstCall(load: () => Promise<Endpoint>): Endpoint {
  let loaded: Endpoint | undefined;
  return (request, scope) => {
    if (loaded !== undefined) return loaded(request, scope);
    // A load that failed is tried again.
    return load().then((endpoint) => {
      loaded = endpoint;
      return endpoint(request, scope);
    });
  };
}

const listing = () => import('../../shared/routing/model-listing/index.ts');
const storedResponse = () => import('./stored-response/index.ts');
const account = () => import('./account/serve-account.ts');

/** Builds the gateway's routes. `describeApi` is absent if the description is not served. */
export function createGateway(deps: GatewayDependencies & RouterDependencies, describeApi?: DescribeApi): Gateway {
  const serveStored = (work: StoredWork) =>
    onFirstCall(async () => (await storedResponse()).serveStoredResponse(deps, work, { createSend, readBrokenCall }));
  const listed = Object.values(interfaceList);
  const pathsUnder = (base: ListedRoute['base']) =>
    Object.fromEntries(
      listed.flatMap(({ routes, load }) =>
        routes
          .filter((route) => route.base === base)
          .map(({ path, operation }) => [
            path,
            { POST: onFirstCall(async () => serveCall(deps, await load(), operation)) },
          ]),
      ),
    );
  const lists = {
    [routePaths.models]: { GET: onFirstCall(async () => (await listing()).serveModels(deps)) },
    [routePaths.model]: { GET: onFirstCall(async () => (await listing()).serveModel(deps)) },
  };
  return createRouter(
    {
      api: {
        ...pathsUnder('all'),
        [routePaths.response]: { GET: serveStored({ method: 'GET' }), DELETE: serveStored({ method: 'DELETE' }) },
        [routePaths.cancelResponse]: { POST: serveStored({ below: '/cancel' }) },
        [routePaths.inputItems]: { GET: serveStored({ method: 'GET', below: '/input_items' }) },
        ...lists,
      },
      vendor: {
        '/v1beta': { ...pathsUnder('/v1beta'), ...lists },
        '/bedrock': { ...pathsUnder('/bedrock'), [bedrockPaths.inferenceProfiles]: lists[routePaths.models] },
      },
      root: describeApi === undefined ? {} : { [rootPaths.openapi]: { GET: serveText(describeApi) } },
      v1Only: {
        ...pathsUnder('/v1'),
        [routePaths.key]: { GET: onFirstCall(async () => (await account()).serveKey(deps)) },
        [routePaths.credits]: { GET: onFirstCall(async () => (await account()).serveCredits(deps)) },
        [routePaths.generation]: { GET: onFirstCall(async () => (await account()).serveGeneration(deps)) },
      },
      routeRules: {
        ...Object.fromEntries(
          listed.flatMap(({ routes, rules }) => (rules === undefined ? [] : routes.map(({ path }) => [path, rules]))),
        ),
        ...modelListRules,
      },
    },
    deps,
  );
}
