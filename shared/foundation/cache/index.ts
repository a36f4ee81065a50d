export { type Cache, createCache } from './create-cache.ts';
export { createReadCache } from './read-cache.ts';
