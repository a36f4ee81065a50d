export { type Cache, createCache } from './create-cache.ts';
export { once } from './once.ts';
export { createReadCache } from './read-cache.ts';
