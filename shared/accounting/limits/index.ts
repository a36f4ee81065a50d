export { nextTry, readLimitUse } from './limit-use.ts';
export type { EntryLimits, LimitedEntry } from './limits.ts';
export { type Admission, createProviderLimiter, type Permit, type ProviderLimiter } from './provider-limiter.ts';
