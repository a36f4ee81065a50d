export { type CacheKey, type CacheKeyParts, openCacheKeys } from './cache-key.ts';
export { type CachedAnswer, createResponseCache, type KeptEvents, type ResponseCache } from './response-cache.ts';
