export type { SpanClaim } from './span-item.ts';
export { createSpanStore, type SpanOutcome, type SpanStore } from './span-store.ts';
