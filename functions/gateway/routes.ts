// The routes of the chat function. It answers GET /v1/models too: without a distribution there is still one base URL.

import { rootPaths, routePaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { chatCompletions } from '../../shared/protocol/interfaces/chat-completions/index.ts';
import { embeddings } from '../../shared/protocol/interfaces/embeddings/index.ts';
import { countTokens, messages } from '../../shared/protocol/interfaces/messages/index.ts';
import { responses } from '../../shared/protocol/interfaces/responses/index.ts';
import { createRouter, type RouterDependencies } from '../../shared/protocol/router/index.ts';
import { serveModel, serveModels } from '../../shared/routing/model-listing/index.ts';
import { serveCredits, serveGeneration, serveKey } from './account/serve-account.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { serveOpenApi } from './openapi/index.ts';
import { serveCall } from './serve.ts';

export const createGateway = (deps: GatewayDependencies & RouterDependencies): Gateway =>
  createRouter(
    {
      api: {
        [routePaths.chatCompletions]: { POST: serveCall(deps, chatCompletions) },
        [routePaths.responses]: { POST: serveCall(deps, responses) },
        [routePaths.embeddings]: { POST: serveCall(deps, embeddings) },
        [routePaths.models]: { GET: serveModels(deps) },
        [routePaths.model]: { GET: serveModel(deps) },
      },
      root: { [rootPaths.openapi]: { GET: serveOpenApi } },
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
      },
    },
    deps,
  );
