export { absentAdapters } from './absent-adapters.ts';
export { bundleAdapters } from './bundle-adapters.ts';
export {
  type AwsAdapters,
  createAwsAdapters,
  localCredentials,
} from './create-aws-adapters.ts';
export { createRuntime, type Runtime, type RuntimeOptions } from './create-runtime.ts';
export { warmChat, warmModels } from './warm-start.ts';
