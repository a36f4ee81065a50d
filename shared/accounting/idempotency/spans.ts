// A span id belongs to one call and is used once per workspace. Each claim is one conditional write, so of any number
// of concurrent claims exactly one succeeds. The item identifies its call by hashes of the parts that a retry repeats.
//
//   claim                                 expires (30 days)
//     |----- used ------------------------|----- free ...
//                |-- released ------------|        ← free for the same fingerprint or Idempotency-Key, exactly once
//
// While a span is used, a claim with the same Idempotency-Key passes and changes nothing: the record of the key decides
// whether its call may run, and a call that may not run must not release the span of the running call.
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { Clock } from '../../foundation/time/index.ts';
import {
  absent,
  and,
  atMost,
  type CallOptions,
  type Condition,
  equals,
  holds,
  type Item,
  or,
  type Put,
  type Store,
} from '../../storage/store/index.ts';
import { createClaimQueues } from './claim-queues.ts';
import { type Fingerprint, fingerprintVersions } from './request-fingerprint.ts';

/** Time for which a span id names one call of a workspace. */
const spanLifeSeconds = 30 * 24 * 60 * 60;
/**
 * An expiry in the past on every clock, and recent enough for DynamoDB, which deletes items that expired in the last
 * five years.
 */
const withdrawnSeconds = 24 * 60 * 60;

interface SpanClaim {
  readonly workspace: string;
  /** Span id as sent. */
  readonly spanId: string;
  /** Id that is unique to the call, for instance its execution id. */
  readonly owner: string;
  /** Idempotency-Key as sent, if the call has one. */
  readonly idempotencyKey?: string | undefined;
  /** Fingerprint of the call's inputs. */
  readonly fingerprint: Fingerprint;
  readonly nowMs: number;
}

type OwnSpan = Pick<SpanClaim, 'workspace' | 'spanId' | 'owner'>;

type SpanOutcome = { readonly kind: 'claimed' } | { readonly kind: 'duplicate' };

/** The store; every call throws StoreUnavailable. */
export interface SpanStore {
  /** Claims a span. It is granted again to the same Idempotency-Key, and once to the same inputs after a release. */
  claim(claim: SpanClaim, options?: CallOptions): Promise<SpanOutcome>;
  /**
   * Releases a span after a failure that a client may retry, and only then, because any other end leaves the span used.
   * Does nothing if the span belongs to another call.
   */
  release(claim: OwnSpan, options?: CallOptions): Promise<void>;
  /** Makes the span free again, for a call that was refused first. Does nothing if the span belongs to another call. */
  withdraw(claim: OwnSpan, options?: CallOptions): Promise<void>;
}

export function createSpanStore(store: Pick<Store, 'put' | 'update'>, clock: Clock): SpanStore {
  async function change(span: OwnSpan, attribute: string, value: unknown, options: CallOptions): Promise<void> {
    await store.update(
      {
        table: 'spans',
        key: spanKey(span.workspace, span.spanId),
        changes: { set: { [attribute]: value } },
        condition: equals('owner', span.owner),
        repeatable: true,
      },
      options,
    );
  }
  const claimInLine = createClaimQueues<SpanClaim, SpanOutcome>(store, {
    toPut: claimPut,
    written: { kind: 'claimed' },
    judge: outcomeOf,
  });
  return {
    claim: (claim, options = {}) => claimInLine(spanKey(claim.workspace, claim.spanId), claim, options),
    release: (span, options = {}) => change(span, 'state', 'released', options),
    withdraw: (span, options = {}) =>
      change(span, 'expires_at_epoch_seconds', Math.floor(clock.nowMs() / 1_000) - withdrawnSeconds, options),
  };
}

/** Returns the key of a span, which contains no client text. */
const spanKey = (workspace: string, spanId: string): string => `SPAN#${workspace}#${sha256Hex(spanId)}`;

const keyHashOf = ({ idempotencyKey }: Pick<SpanClaim, 'idempotencyKey'>): string | undefined =>
  idempotencyKey === undefined ? undefined : sha256Hex(idempotencyKey);

function claimPut(claim: SpanClaim) {
  const { workspace, spanId, owner, fingerprint, nowMs } = claim;
  return {
    table: 'spans',
    item: {
      pk: spanKey(workspace, spanId),
      state: 'used',
      owner,
      idempotency_key_sha256: keyHashOf(claim),
      fingerprint: fingerprint.hash,
      fingerprint_version: fingerprint.version,
      expires_at_epoch_seconds: Math.ceil(nowMs / 1000) + spanLifeSeconds,
    },
    condition: isFreeFor(claim),
    // The owner in the refused item shows an earlier try of this call.
    repeatable: true,
  } satisfies Put;
}

const sameKeyConditions = (claim: SpanClaim): Condition[] => {
  const key = keyHashOf(claim);
  return key === undefined ? [] : [equals('idempotency_key_sha256', key)];
};

/**
 * Tests for the same inputs, in each version of fingerprints, because another release may have claimed the span first.
 */
const sameInputsConditions = ({ fingerprint }: SpanClaim): Condition[] =>
  fingerprintVersions.flatMap((version) => {
    const hash = fingerprint.hashOf(version);
    return hash === undefined ? [] : [equals('fingerprint', hash)];
  });

const isFreeFor = (claim: SpanClaim): Condition =>
  or(
    absent('pk'),
    atMost('expires_at_epoch_seconds', Math.floor(claim.nowMs / 1000)),
    and(equals('state', 'released'), or(...sameInputsConditions(claim), ...sameKeyConditions(claim))),
  );

/**
 * Tests for an item that already has this claim: the answer to a first try was lost, or the item has the same
 * Idempotency-Key.
 */
const isClaimed = (claim: SpanClaim): Condition =>
  and(equals('state', 'used'), or(equals('owner', claim.owner), ...sameKeyConditions(claim)));

const outcomeOf = (item: Item, claim: SpanClaim): SpanOutcome => ({
  kind: holds(isClaimed(claim), item) ? 'claimed' : 'duplicate',
});
