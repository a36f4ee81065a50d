export {
  apiFor,
  type Candidate,
  type CandidatePrices,
  type Catalogue,
  type CatalogueModel,
  isOwnApi,
  loadCatalogue,
  serves,
} from './catalogue.ts';
export {
  type CatalogueDocument,
  type DeclaredPolicy,
  extraNames,
  type ModelDocument,
  type ModelProviderDocument,
  type ProviderAuth,
  type ProviderDocument,
  type SecretReference,
  type ServiceDocument,
  type SupportedParams,
} from './catalogue-document.ts';
export { type CatalogueReader, createCatalogueReader } from './catalogue-reader.ts';
export { type CataloguePointer, type CatalogueStore, createCatalogueStore } from './catalogue-store.ts';
