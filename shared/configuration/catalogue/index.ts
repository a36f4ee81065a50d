export {
  type Candidate,
  type CandidatePrices,
  type Catalogue,
  type CatalogueModel,
  hubApisFor,
  loadCatalogue,
  serves,
  speaksOwn,
  type TokenPrices,
} from './catalogue.ts';
export type {
  CatalogueDocument,
  DeclaredPolicy,
  ModelDocument,
  ModelProviderDocument,
  PriceTierDocument,
  ProviderAuth,
  ProviderDocument,
  SecretReference,
  ServiceDocument,
  SupportedParams,
} from './catalogue-document.ts';
export { type CatalogueReader, createCatalogueReader, refuseWhileRestored } from './catalogue-reader.ts';
export {
  type CataloguePointer,
  type CatalogueStore,
  createCatalogueStore,
} from './catalogue-store.ts';
export { isOpenAiThinker, plainModelName, thinksWithToolsOnResponsesOnly } from './model-names.ts';
