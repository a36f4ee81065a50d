export {
  fromRow,
  type ListDocument,
  type ListedFeature,
  type ListedMediaPrices,
  type ListedModality,
  type ListedModel,
  type ListedPrices,
  type ListedTier,
  type ListedUnitPrices,
  listColumns,
  listedFeatures,
  listedModalities,
  toRow,
} from './listed-model.ts';
export { type ProviderKind, providerKindNames, providerKinds } from './provider-kinds.ts';
export { coversRegion, loadModelList, type ModelList, openModelList } from './shipped-models.ts';
