export {
  type Candidate,
  type CandidatePrices,
  type Catalogue,
  type CatalogueModel,
  loadCatalogue,
} from './catalogue.ts';
export { type CatalogueReader, createCatalogueReader } from './catalogue-reader.ts';
export { type CatalogueStore, createCatalogueStore } from './catalogue-store.ts';
export type {
  CatalogueDocument,
  DeclaredPolicy,
  ModelDocument,
  ModelProviderDocument,
  ProviderAuth,
  ProviderDocument,
  ServiceDocument,
  SupportedParams,
} from './document.ts';
