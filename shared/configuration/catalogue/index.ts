export { resolveIds, resolveListedIds } from './bare-model-name.ts';
export { findAtBedrock, type NamedAtBedrock, readBedrockName } from './bedrock-model-name.ts';
export {
  type Candidate,
  type CandidatePrices,
  type Catalogue,
  type CatalogueModel,
  canBeKeptFromThinking,
  hasClientInterface,
  hubApisFor,
  isOpenAiReasoningModel,
  listedName,
  loadCatalogue,
  mediaPriceMembers,
  modelNames,
  openAiNames,
  plainModelName,
  serves,
  type TokenPrices,
  thinksByDefault,
  thinksWithToolsInResponsesOnly,
} from './catalogue.ts';
export * from './catalogue-document.ts';
export { type CatalogueReader, createCatalogueReader, refuseWhilePaused } from './catalogue-reader.ts';
export { type CatalogueStore, createCatalogueStore } from './catalogue-store.ts';
export * from './credential-pool.ts';
export {
  anyEffortReasoning,
  budgetReasoning,
  type ModelReasoning,
  reasoningOf,
  relayedEffort,
  type Thinking,
  thinkingMinTokens,
  thinkingOf,
  unknownModelReasoning,
} from './reasoning.ts';
export * from './unit-prices.ts';
