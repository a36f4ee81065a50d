// The routes of the gateway's function. It answers GET /v1/models too: without a distribution there is still one base URL.

import { okStatus } from '../../shared/errors/index.ts';
import { rootPaths, routePaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { chatCompletions } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { embeddings } from '../../shared/protocol/interfaces/embeddings/index.ts';
import { countTokens, messages } from '../../shared/protocol/interfaces/messages/index.ts';
import { responses } from '../../shared/protocol/interfaces/responses/index.ts';
import {
  createRouter,
  type Endpoint,
  jsonHeaders,
  type RouterDependencies,
} from '../../shared/protocol/router/index.ts';
import { modelRoutes } from '../../shared/routing/model-listing/index.ts';
import { serveCredits, serveGeneration, serveKey } from './account/serve-account.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { serveCall } from './serve.ts';

/** Returns the API description, which needs no key: it is the same for every caller. */
export type DescribeApi = () => Promise<string>;

/** Read once and shared: many slow readers hold one text. */
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

/** `describeApi`: absent where the description is not served. */
export function createGateway(deps: GatewayDependencies & RouterDependencies, describeApi?: DescribeApi): Gateway {
  const models = modelRoutes(deps);
  return createRouter(
    {
      api: {
        [routePaths.chatCompletions]: { POST: serveCall(deps, chatCompletions) },
        [routePaths.responses]: { POST: serveCall(deps, responses) },
        [routePaths.embeddings]: { POST: serveCall(deps, embeddings) },
        ...models.api,
      },
      root: describeApi === undefined ? {} : { [rootPaths.openapi]: { GET: serveText(describeApi) } },
      v1Only: {
        [routePaths.messages]: { POST: serveCall(deps, messages) },
        [routePaths.countTokens]: { POST: serveCall(deps, countTokens) },
        [routePaths.key]: { GET: serveKey(deps) },
        [routePaths.credits]: { GET: serveCredits(deps) },
        [routePaths.generation]: { GET: serveGeneration(deps) },
      },
      routeRules: {
        [routePaths.messages]: messages.routeRules,
        [routePaths.countTokens]: countTokens.routeRules,
        [routePaths.responses]: responses.routeRules,
        ...models.routeRules,
      },
    },
    deps,
  );
}
