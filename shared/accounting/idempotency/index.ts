export { recordLifeSeconds, type StoredResult } from './record.ts';
export { type Completion, createIdempotencyStore, type IdempotencyStore } from './record-store.ts';
export { type Fingerprint, fingerprint, type SentHeaders } from './request-fingerprint.ts';
export { createSpanStore, type SpanClaim, type SpanStore } from './spans.ts';
