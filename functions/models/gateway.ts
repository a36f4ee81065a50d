// The routes of the models function: one.
import { createFrontDoor, type FrontDoorDependencies } from '../../shared/front-door/index.ts';
import type { Gateway } from '../../shared/http/index.ts';
import { type ModelListingDependencies, serveModels } from '../../shared/model-listing/index.ts';
import { routePaths } from '../../shared/names/index.ts';

export const createModelsGateway = (deps: ModelListingDependencies & FrontDoorDependencies): Gateway =>
  createFrontDoor({ [routePaths.models]: { GET: serveModels(deps) } }, deps);
