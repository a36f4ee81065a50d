export * from './bounds.ts';
export * from './call-times.ts';
export { environmentNames } from './environment.ts';
export { headerNames } from './headers.ts';
export { autoModelId, brand, functionAliasPrefix, idPattern, reservedModelPrefix } from './ids.ts';
export { type InterfaceId, interfaceIds } from './interfaces.ts';
export {
  type AttemptMetricName,
  attemptMetricSeries,
  type RequestMetricName,
  requestMetricSeries,
} from './metrics.ts';
export { type BasePath, basePaths, rootPaths, routePaths } from './routes.ts';
export { physicalTableName, type TableDefinition, type TableName, tableDefinitions, tableNames } from './tables.ts';
