export { fingerprint, type SentHeaders } from './fingerprint.ts';
export { recordLifeSeconds, type StoredResult } from './record.ts';
export {
  createIdempotencyStore,
  type IdempotencyStore,
} from './record-store.ts';
export { createSpanStore, type SpanClaim, type SpanStore } from './spans.ts';
