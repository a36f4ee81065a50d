export { type ModelListingDependencies, serveModels } from './serve-models.ts';
