export { type CacheKey, type CacheKeyParts, cacheKeys } from './cache-key.ts';
export { type CachedAnswer, createResponseCache, type KeptEvents, type ResponseCache } from './response-cache.ts';
