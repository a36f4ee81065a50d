export * from './bounds.ts';
export * from './call-times.ts';
export { environmentNames } from './environment-names.ts';
export { headerNames } from './header-names.ts';
export { autoModelId, brand, functionAliasPrefix, idPattern, reservedModelPrefix } from './ids.ts';
export {
  countsOnly,
  type Extra,
  extraNames,
  type HubApi,
  type InterfaceId,
  interfaceIds,
  listedAs,
  listedInterfaceIds,
  operationOf,
  type ProviderApi,
  providerApis,
  servingApis,
} from './interfaces.ts';
export {
  type AttemptMetricName,
  attemptMetricSeries,
  type ProcessMetricName,
  processMetricSeries,
  type RequestMetricName,
  requestMetricSeries,
} from './metrics.ts';
export { type BasePath, barePaths, basePaths, managePaths, notOffered, rootPaths, routePaths } from './route-paths.ts';
export {
  cataloguePointerItem,
  physicalTableName,
  type TableDefinition,
  type TableName,
  tableDefinitions,
  tableNames,
} from './tables.ts';
