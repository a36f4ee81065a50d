export { type Cache, createCache } from './create-cache.ts';
export { createReadCache, type ReadCache, type ReadCacheOptions } from './read-cache.ts';
