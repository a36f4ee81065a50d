// Idempotency keys at rest: each call of this store is one conditional write to one item. The winner of a
// race is decided there, and the loser learns the winner's record from the same call.
import type { BlobStore } from '../../storage/blobs/index.ts';
import type { CallOptions, Store } from '../../storage/store/index.ts';
import { createClaimQueues } from './claim-queues.ts';
import { claimPut, completeUpdate, recordKey, recordOf, releaseUpdate } from './idempotency-item.ts';
import { type DoneRecord, type IdempotencyRecord, isOwnCompletion, judge, type StoredResult } from './record.ts';
import type { Fingerprint } from './request-fingerprint.ts';
import { type LoadOptions, loadBody, storeBody } from './stored-body.ts';

/** An Idempotency-Key as sent, within its workspace, and the call that acts on it. */
interface KeyOwner {
  readonly workspace: string;
  readonly key: string;
  /** Unique to the call, its execution id for instance: the fencing token. */
  readonly owner: string;
}

interface Claim extends KeyOwner {
  readonly fingerprint: Fingerprint;
  readonly nowMs: number;
  /** From here on another claim may take over: past the moment the runtime ends the call. */
  readonly leaseUntilMs: number;
}

type ClaimOutcome =
  /** The call may run. It ends with `complete` or `release`. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'running'; readonly leaseUntilMs: number }
  /** `owner`: of the call whose answer it is. */
  | { readonly kind: 'done'; readonly owner: string; readonly result: StoredResult }
  /** The call is done, and its answer was too long to be stored. */
  | { readonly kind: 'done_unstored' };

interface Completion extends KeyOwner {
  /** A complete 2xx answer: nothing else is ever stored. Without a body, or with one that is too long, its call is done. */
  readonly result: Omit<StoredResult, 'body'> & { readonly body: string | undefined };
  readonly nowMs: number;
}

/** 'fenced': another call took over the key, and its result is kept. */
type CompletionOutcome = { readonly kind: 'completed' } | { readonly kind: 'fenced' };

/** All calls throw StoreUnavailable. */
export interface IdempotencyStore {
  /**
   * A claim that throws StoreUnavailable may have been written all the same: release it like one that was granted.
   * Throws an Error when the stored result is lost for good (`loadBody` says why the call does not run again).
   */
  claim(claim: Claim, options?: LoadOptions): Promise<ClaimOutcome>;
  complete(completion: Completion, options?: CallOptions): Promise<CompletionOutcome>;
  /** Gives a running claim back after a failure. Does nothing where the claim is no longer this owner's. */
  release(owner: KeyOwner, options?: CallOptions): Promise<void>;
}

interface IdempotencyStoreOptions {
  readonly store: Pick<Store, 'put' | 'update'>;
  readonly blobs: BlobStore;
}

export function createIdempotencyStore({ store, blobs }: IdempotencyStoreOptions): IdempotencyStore {
  const claimInLine = createClaimQueues<Claim, ClaimOutcome | DoneRecord>(store, {
    toPut: (claim) => claimPut(recordKey(claim.workspace, claim.key), claim),
    written: { kind: 'claimed' },
    judge: (item, claim) => outcomeOf(recordOf(item), claim),
  });

  return {
    async claim(claim, options = {}) {
      const outcome = await claimInLine(recordKey(claim.workspace, claim.key), claim, options);
      if ('kind' in outcome) return outcome;
      const { owner, result, body } = outcome;
      if (body === undefined) return { kind: 'done_unstored' };
      return { kind: 'done', owner, result: { ...result, body: await loadBody(blobs, body, options) } };
    },

    async complete({ workspace, key, owner, result, nowMs }, options = {}) {
      const pk = recordKey(workspace, key);
      const { body: text } = result;
      const body = text === undefined ? undefined : await storeBody(blobs, { pk, owner, body: text }, options);
      const outcome = await store.update(completeUpdate(pk, owner, result, body, nowMs), options);
      if (outcome.kind === 'written') return { kind: 'completed' };
      const record = outcome.item === undefined ? undefined : recordOf(outcome.item);
      return { kind: isOwnCompletion(record, owner, body?.sha256) ? 'completed' : 'fenced' };
    },

    async release({ workspace, key, owner }, options = {}) {
      await store.update(releaseUpdate(recordKey(workspace, key), owner), options);
    },
  };
}

/** The record itself where its answer has to be loaded. */
function outcomeOf(record: IdempotencyRecord, claim: Claim): ClaimOutcome | DoneRecord {
  switch (judge(record, claim)) {
    case 'own':
      return { kind: 'claimed' };
    case 'conflict':
      return { kind: 'conflict' };
    default:
      return record.state === 'done' ? record : { kind: 'running', leaseUntilMs: record.leaseUntilMs };
  }
}
