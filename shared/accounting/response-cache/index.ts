export { type CacheKey, openCacheKeys } from './cache-key.ts';
export { type CacheableEvents, type CachedAnswer, createResponseCache, type ResponseCache } from './response-cache.ts';
