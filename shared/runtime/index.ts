export { bundleAdapters } from './bundle-adapters.ts';
export { createRuntime, type Runtime, type RuntimeOptions } from './create-runtime.ts';
