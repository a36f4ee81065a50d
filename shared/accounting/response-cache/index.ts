export { type CacheKeyParts, cacheKey } from './cache-key.ts';
export type { CachedAnswer, CachedUsage } from './cached-answer.ts';
export {
  type CacheLife,
  createResponseCache,
  type ResponseCache,
  type ResponseCacheOptions,
} from './response-cache.ts';
