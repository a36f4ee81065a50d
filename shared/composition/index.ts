export { bundleAdapters, createAwsAdapters, localCredentials } from './create-aws-adapters.ts';
export { type Composition, createComposition, createOperatorComposition } from './create-composition.ts';
export * from './create-gateway-composition.ts';
export { createTableReaders } from './create-table-readers.ts';
export { warmGateway, warmModels } from './warm-start.ts';
