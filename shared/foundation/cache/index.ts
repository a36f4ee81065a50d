export { type Cache, createCache, createReadCache, once } from './read-cache.ts';
