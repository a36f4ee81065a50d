export { type Cache, createCache } from './create-cache.ts';
export { createReadCache, type ReadCache } from './read-cache.ts';
