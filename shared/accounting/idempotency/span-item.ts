// A span id belongs to one call (contract 7). The item remembers which, by the hashes of what a retry of it repeats.
//
//   claim                                 expires (30 days)
//     |----- used ------------------------|----- free ...
//                |-- released ------------|        ← free for the same fingerprint or Idempotency-Key, exactly once
//
// While it is used the same Idempotency-Key is let through, and changes nothing: whether its call may run is decided by
// the record of the key, and a call that may not run must not give away the span of the one that does.
import { sha256Hex } from '../../foundation/ids/index.ts';
import type { Item, Put, Update } from '../../storage/store/index.ts';

/** Contract 7. */
const spanLifeSeconds = 30 * 24 * 60 * 60;

export interface SpanClaim {
  readonly workspace: string;
  /** As sent. */
  readonly spanId: string;
  /** Unique to the call, its execution id for instance. */
  readonly owner: string;
  /** As sent, where the call has one. */
  readonly idempotencyKey?: string | undefined;
  /** What the inputs of the call hash to. */
  readonly fingerprint: string;
  readonly nowMs: number;
}

/** Client text is no part of a table key. */
const spanKey = (workspace: string, spanId: string): string => `SPAN#${workspace}#${sha256Hex(spanId)}`;

const isAbsent = 'attribute_not_exists(pk)';
const isExpired = '#expires <= :nowSeconds';
const isOfSameCall = '#fingerprint = :fingerprint';
const isOfSameCallOrKey = '(#fingerprint = :fingerprint OR #key = :key)';

const keyHashOf = ({ idempotencyKey }: Pick<SpanClaim, 'idempotencyKey'>): string | undefined =>
  idempotencyKey === undefined ? undefined : sha256Hex(idempotencyKey);

export function claimPut(claim: SpanClaim) {
  const { workspace, spanId, owner, fingerprint, nowMs } = claim;
  const key = keyHashOf(claim);
  const isOwn = key === undefined ? isOfSameCall : isOfSameCallOrKey;
  return {
    table: 'spans',
    item: {
      pk: spanKey(workspace, spanId),
      state: 'used',
      owner,
      idempotency_key_sha256: key,
      fingerprint,
      expires_at_epoch_seconds: Math.ceil(nowMs / 1000) + spanLifeSeconds,
    },
    condition: `${isAbsent} OR ${isExpired} OR (#state = :released AND ${isOwn})`,
    names: {
      '#state': 'state',
      '#fingerprint': 'fingerprint',
      '#expires': 'expires_at_epoch_seconds',
      ...(key === undefined ? {} : { '#key': 'idempotency_key_sha256' }),
    },
    values: {
      ':released': 'released',
      ':fingerprint': fingerprint,
      ':nowSeconds': Math.floor(nowMs / 1000),
      ...(key === undefined ? {} : { ':key': key }),
    },
    // Its own first try is recognised by the owner in the refused item.
    repeatable: true,
  } satisfies Put;
}

/** As if it had never been claimed: free for everybody. */
export const withdrawUpdate = ({ workspace, spanId, owner }: Pick<SpanClaim, 'workspace' | 'spanId' | 'owner'>) =>
  ({
    table: 'spans',
    key: spanKey(workspace, spanId),
    expression: 'SET #expires = :past',
    condition: '#owner = :owner',
    names: { '#expires': 'expires_at_epoch_seconds', '#owner': 'owner' },
    values: { ':past': 0, ':owner': owner },
    repeatable: true,
  }) satisfies Update;

export const releaseUpdate = ({ workspace, spanId, owner }: Pick<SpanClaim, 'workspace' | 'spanId' | 'owner'>) =>
  ({
    table: 'spans',
    key: spanKey(workspace, spanId),
    expression: 'SET #state = :released',
    condition: '#owner = :owner',
    names: { '#state': 'state', '#owner': 'owner' },
    values: { ':released': 'released', ':owner': owner },
    repeatable: true,
  }) satisfies Update;

/** The claim stands there already: the answer to its first try was lost, or the Idempotency-Key is that of its call. */
export const isOwnClaim = (item: Item | undefined, claim: SpanClaim): boolean => {
  const key = keyHashOf(claim);
  const isOfKey = key !== undefined && item?.idempotency_key_sha256 === key;
  return item?.state === 'used' && (item.owner === claim.owner || isOfKey);
};
