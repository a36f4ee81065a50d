export { type CacheKey, type CacheKeyParts, openCacheKeys } from './cache-key.ts';
export { type CacheableEvents, type CachedAnswer, createResponseCache, type ResponseCache } from './response-cache.ts';
