export { fingerprint, type SentHeaders } from './fingerprint.ts';
export { recordLifeSeconds, type StoredResult } from './record.ts';
export {
  createIdempotencyStore,
  type IdempotencyStore,
} from './record-store.ts';
export type { SpanClaim } from './span-item.ts';
export { createSpanStore, type SpanStore } from './span-store.ts';
