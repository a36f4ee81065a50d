export { type Cache, createCache, once } from './create-cache.ts';
export { createReadCache } from './read-cache.ts';
