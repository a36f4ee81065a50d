export { type ModelListingDependencies, modelRoutes } from './serve-models.ts';
