// The routes of the models function.

import type { Gateway } from '../../shared/protocol/http/index.ts';
import { createRouter, type RouterDependencies } from '../../shared/protocol/router/index.ts';
import { type ModelListingDependencies, modelRoutes } from '../../shared/routing/model-listing/index.ts';

export const createModelsGateway = (deps: ModelListingDependencies & RouterDependencies): Gateway =>
  createRouter(modelRoutes(deps), deps);
