// Stores the records of idempotency keys. Each call is one conditional write to one item. The store decides the winner
// of a race, and the loser gets the winner's record from the same call.

import { resultPrefix, storedAnswerMaxBytes } from '../../foundation/constants/index.ts';
import { canonicalJson, sha256Hex } from '../../foundation/ids/index.ts';
import { type AnswerAllocation, loadAnswer } from '../../protocol/memory-budget/index.ts';
import { type BlobStore, inlineMaxBytes, packText, textBytesIn, unpackText } from '../../storage/blobs/index.ts';
import {
  absent,
  and,
  atMost,
  type CallOptions,
  type Condition,
  equals,
  type Item,
  or,
  type Put,
  type Store,
  StoreUnavailable,
  type Update,
} from '../../storage/store/index.ts';
import { createClaimQueues } from './claim-queues.ts';
import {
  type Claimant,
  type DoneRecord,
  expiryAfter,
  type IdempotencyRecord,
  isOwnCompletion,
  judge,
  type PackedBody,
  type StoredResult,
} from './record.ts';
import type { Fingerprint } from './request-fingerprint.ts';

/** An Idempotency-Key as sent, within its workspace, and the call that acts on it. */
interface KeyOwner {
  readonly workspace: string;
  readonly key: string;
  /** Id that is unique to the call, for instance its execution id. It is the fencing token. */
  readonly owner: string;
}

interface Claim extends KeyOwner {
  readonly fingerprint: Fingerprint;
  readonly nowMs: number;
  /** Time from which another claim may take over, which is after the runtime ends the call. */
  readonly leaseUntilMs: number;
}

type ClaimOutcome =
  /** The call may run, and ends with `complete` or `release`. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'running'; readonly leaseUntilMs: number }
  /** `owner` is the call that got this answer first. */
  | { readonly kind: 'done'; readonly owner: string; readonly result: StoredResult }
  /** The call is done, and its answer was too long to be stored. */
  | { readonly kind: 'done_unstored' };

interface Completion extends KeyOwner {
  /**
   * A complete 2xx answer, because nothing else is ever stored. If its body is missing or too long, its call still
   * counts as done.
   */
  readonly result: Omit<StoredResult, 'body'> & { readonly body: string | undefined };
  readonly nowMs: number;
}

/** 'fenced': another call took over the key, and its result stays. */
type CompletionOutcome = { readonly kind: 'completed' } | { readonly kind: 'fenced' };

/** The store; every call throws StoreUnavailable. */
export interface IdempotencyStore {
  /**
   * Claims a key. A claim that throws StoreUnavailable may have been written nevertheless. Release such a claim like a
   * granted claim. Throws an Error when the stored result is lost for good (`loadBody` says why the call does not run
   * again).
   */
  claim(claim: Claim, options?: LoadOptions): Promise<ClaimOutcome>;
  complete(completion: Completion, options?: CallOptions): Promise<CompletionOutcome>;
  /** Releases a running claim after a failure. Does nothing if the claim no longer belongs to this owner. */
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

/** Returns the outcome, or the record itself if its answer has to be loaded. */
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

// Stores bodies of results, compressed, in the item if they fit, otherwise in the blob store. Both return exactly the
// stored text, or fail.

/**
 * Compresses a body. When this resolves, a body that is too large for an item is in the blob store, because no record
 * may name a missing blob. Blobs of a refused completion expire. Returns undefined for a text that is too long.
 */
async function storeBody(
  blobs: BlobStore,
  { pk, owner, body }: { readonly pk: string; readonly owner: string; readonly body: string },
  options: CallOptions,
): Promise<PackedBody | undefined> {
  const textBytes = Buffer.byteLength(body);
  if (textBytes > storedAnswerMaxBytes) return undefined;
  const { bytes, sha256 } = await packText(body);
  if (bytes.byteLength <= inlineMaxBytes) return { bytes, sha256 };
  // The name includes owner and content, because the value of a blob's key never changes.
  const blobKey = resultPrefix + sha256Hex(canonicalJson([pk, owner, sha256]));
  try {
    await orUnavailable(blobs.put(blobKey, bytes, options));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return { blobKey, sha256, textBytes };
}

/** Assumed length of a text of unknown length, which is rather too long than too short. */
const unknownTextBytes = 8 * 1024 * 1024;

interface LoadOptions extends CallOptions {
  /** Memory of the call that loads an answer. */
  readonly allocation?: Pick<AnswerAllocation, 'take' | 'during'> | undefined;
}

/**
 * Loads a body. Throws StoreUnavailable when the blob store does not answer, RATE_LIMITER_UNAVAILABLE if there is no
 * memory for it. Throws an Error when the body is gone or damaged: the call is not run again, because that would charge
 * twice, which the key must prevent.
 */
async function loadBody(blobs: BlobStore, body: PackedBody, { allocation, ...options }: LoadOptions): Promise<string> {
  const textBytes = 'bytes' in body ? textBytesIn(body.bytes) : (body.textBytes ?? unknownTextBytes);
  return await loadAnswer(allocation, { replayed: textBytes }, async () => {
    const bytes = 'bytes' in body ? body.bytes : await orUnavailable(blobs.get(body.blobKey, options));
    if (bytes === undefined) throw new Error('the stored result of an idempotency key is gone from the blob store');
    const text = await unpackText({ bytes, sha256: body.sha256 });
    if (text === undefined) throw new Error('the stored result of an idempotency key is damaged');
    return text;
  });
}

async function orUnavailable<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    // The body is too large for any place, so another try changes nothing.
    if (error instanceof RangeError) throw error;
    throw new StoreUnavailable(error);
  }
}

// Records as items of the idempotency table, and the writes that move them from state to state.

/**
 * Returns the key of a record. It contains no client text, which would have a length and characters of the client's
 * choice.
 */
const recordKey = (workspace: string, key: string): string => `IDEM#${workspace}#${sha256Hex(key)}`;

/** Tests for a record that is over, was released, or whose owner is dead. */
const isFree = (nowMs: number): Condition =>
  or(
    absent('pk'),
    atMost('expires_at_epoch_seconds', Math.floor(nowMs / 1000)),
    and(equals('state', 'running'), atMost('lease_until_ms', nowMs)),
  );

const isMineAndRunning = (owner: string): Condition => and(equals('owner', owner), equals('state', 'running'));

/**
 * Returns the write of a claim, which creates the record, takes it over or is refused. The whole item is new, so that
 * no part of a former result remains.
 */
const claimPut = (pk: string, { fingerprint, owner, nowMs, leaseUntilMs }: Claimant & { leaseUntilMs: number }) =>
  ({
    table: 'idempotency',
    item: {
      pk,
      state: 'running',
      fingerprint: fingerprint.hash,
      fingerprint_version: fingerprint.version,
      owner,
      lease_until_ms: leaseUntilMs,
      expires_at_epoch_seconds: expiryAfter(nowMs),
    },
    condition: isFree(nowMs),
    // The owner in the refused item shows an earlier try of this call.
    repeatable: true,
  }) satisfies Put;

const completeUpdate = (
  pk: string,
  owner: string,
  { status, headers, model, provider, executionId, guardrails }: Omit<StoredResult, 'body'>,
  body: PackedBody | undefined,
  nowMs: number,
) =>
  ({
    table: 'idempotency',
    key: pk,
    changes: {
      set: {
        state: 'done',
        result: {
          status,
          headers,
          model,
          provider,
          execution_id: executionId,
          guardrails,
          ...(body === undefined ? {} : bodyMembers(body)),
        },
        expires_at_epoch_seconds: expiryAfter(nowMs),
      },
      remove: ['lease_until_ms'],
    },
    condition: isMineAndRunning(owner),
    // Owner and body in the refused item show an earlier try of this call.
    repeatable: true,
  }) satisfies Update;

const bodyMembers = (body: PackedBody): Item => ({
  body_sha256: body.sha256,
  ...('bytes' in body ? { body_gzip: body.bytes } : { body_blob_key: body.blobKey, body_text_bytes: body.textBytes }),
});

/** Returns the write that ends the lease and removes the owner, whose late writes are then refused. */
const releaseUpdate = (pk: string, owner: string) =>
  ({
    table: 'idempotency',
    key: pk,
    changes: { set: { lease_until_ms: 0 }, remove: ['owner'] },
    condition: isMineAndRunning(owner),
    repeatable: true,
  }) satisfies Update;

export function recordOf(item: Item): IdempotencyRecord {
  const common = {
    fingerprint: item.fingerprint as string,
    fingerprintVersion: item.fingerprint_version as number,
    expiresAtEpochSeconds: item.expires_at_epoch_seconds as number,
  };
  if (item.state === 'done') return { ...common, ...doneMembers(item) };
  const owner = item.owner as string | undefined;
  return { ...common, state: 'running', owner, leaseUntilMs: item.lease_until_ms as number };
}

function doneMembers(item: Item): Omit<DoneRecord, 'fingerprint' | 'fingerprintVersion' | 'expiresAtEpochSeconds'> {
  const result = item.result as Item;
  return {
    state: 'done',
    owner: item.owner as string,
    result: {
      status: result.status as number,
      headers: result.headers as Record<string, string>,
      model: result.model as string | undefined,
      provider: result.provider as string | undefined,
      ...(result.execution_id === undefined ? {} : { executionId: result.execution_id as string }),
      ...(result.guardrails === undefined ? {} : { guardrails: result.guardrails as string[] }),
    },
    body: bodyOf(result),
  };
}

function bodyOf({ body_sha256, body_gzip, body_blob_key, body_text_bytes }: Item): PackedBody | undefined {
  if (body_sha256 === undefined) return undefined;
  const sha256 = body_sha256 as string;
  return body_gzip === undefined
    ? { sha256, blobKey: body_blob_key as string, textBytes: body_text_bytes as number | undefined }
    : { sha256, bytes: body_gzip as Uint8Array };
}
