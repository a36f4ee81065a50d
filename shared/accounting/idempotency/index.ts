export { fingerprint, type SentHeaders } from './fingerprint.ts';
export { recordLifeSeconds, type StoredResult } from './record.ts';
export {
  type Claim,
  type ClaimOutcome,
  type Completion,
  type CompletionOutcome,
  createIdempotencyStore,
  type IdempotencyStore,
  type IdempotencyStoreOptions,
  type KeyOwner,
} from './record-store.ts';
export { createSpanStore, type SpanClaim, type SpanOutcome, type SpanStore } from './spans.ts';
