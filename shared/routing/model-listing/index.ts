export { type ModelListingDependencies, serveModel, serveModels } from './serve-models.ts';
