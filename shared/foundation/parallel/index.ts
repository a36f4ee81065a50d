export { collect, mapParallel, mergeParallel, parallelReads } from './parallel.ts';
