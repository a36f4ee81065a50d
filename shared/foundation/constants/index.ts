export * from './bounds.ts';
export * from './call-times.ts';
export { environmentNames } from './environment-names.ts';
export { headerNames } from './header-names.ts';
export { autoModelId, brand, functionAliasPrefix, idPattern, reservedModelPrefix } from './ids.ts';
export * from './interfaces.ts';
export * from './metrics.ts';
export { type BasePath, barePaths, basePaths, notOffered, rootPaths, routePaths } from './route-paths.ts';
export * from './tables.ts';
