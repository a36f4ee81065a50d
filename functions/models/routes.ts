// Lists the routes of the models function.

import { routePaths } from '../../shared/foundation/constants/index.ts';
import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter, modelListRules, type RouterDependencies } from '../../shared/protocol/router/index.ts';
import { type ModelListingDependencies, serveModel, serveModels } from '../../shared/routing/model-listing/index.ts';

export const createModelsGateway = (deps: ModelListingDependencies & RouterDependencies): Gateway =>
  createRouter(
    {
      api: { [routePaths.models]: { GET: serveModels(deps) }, [routePaths.model]: { GET: serveModel(deps) } },
      routeRules: modelListRules,
    },
    deps,
  );
