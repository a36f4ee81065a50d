// A span id is used once per workspace (spec 4.1): one conditional write per call, so of any number of calls at the same
// time exactly one has it.
import type { CallOptions, Store } from '../../storage/store/index.ts';
import { claimPut, isOwnClaim, releaseUpdate, type SpanClaim, withdrawUpdate } from './span-item.ts';

export type SpanOutcome = { readonly kind: 'claimed' } | { readonly kind: 'duplicate' };

/** All calls throw StoreUnavailable. */
export interface SpanStore {
  /** Granted again to the same Idempotency-Key, and once to the same inputs after a release. */
  claim(claim: SpanClaim, options?: CallOptions): Promise<SpanOutcome>;
  /**
   * After a failure that a client may retry, and only then: any other end leaves the span used. Does nothing where the
   * span is another call's.
   */
  release(claim: OwnSpan, options?: CallOptions): Promise<void>;
  /** For a call that was refused before its span was looked at. Does nothing where the span is another call's. */
  withdraw(claim: OwnSpan, options?: CallOptions): Promise<void>;
}

type OwnSpan = Pick<SpanClaim, 'workspace' | 'spanId' | 'owner'>;

export function createSpanStore(store: Pick<Store, 'put' | 'update'>): SpanStore {
  return {
    async claim(claim, options = {}) {
      const outcome = await store.put(claimPut(claim), options);
      const isGranted = outcome.kind === 'written' || isOwnClaim(outcome.item, claim);
      return { kind: isGranted ? 'claimed' : 'duplicate' };
    },
    async release(claim, options = {}) {
      await store.update(releaseUpdate(claim), options);
    },
    async withdraw(claim, options = {}) {
      await store.update(withdrawUpdate(claim), options);
    },
  };
}
