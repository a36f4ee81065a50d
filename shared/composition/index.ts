export { bundleAdapters } from './bundle-adapters.ts';
export {
  type AwsAdapters,
  createAwsAdapters,
  localCredentials,
} from './create-aws-adapters.ts';
export { type Composition, type CompositionOptions, createComposition } from './create-composition.ts';
export { createOperatorComposition } from './create-operator-composition.ts';
export { createTableReaders } from './create-table-readers.ts';
export { warmChat, warmModels } from './warm-start.ts';
