export type { StoredResult } from './record.ts';
export { createIdempotencyStore, type IdempotencyStore } from './record-store.ts';
export { type Fingerprint, fingerprint } from './request-fingerprint.ts';
export { createSpanStore, type SpanStore } from './spans.ts';
