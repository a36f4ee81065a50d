export { type CacheKey, type CacheKeyParts, cacheKeys } from './cache-key.ts';
export type { CachedAnswer, KeptEvents } from './cached-answer.ts';
export {
  createResponseCache,
  type ResponseCache,
} from './response-cache.ts';
